/**
 * Readahead for consumers that go through the past in order.
 *
 * A reader is recognised by where its last fetch ended: the fetch that begins there continues it. From its second fetch on
 * it has a window of bytes that are read before it asks. The window adapts to its pace: it doubles when the reader
 * catches up with what was read (it had to wait), halves when what was read is gone again before it came (memory is
 * short), and stays when all was there. Nothing is read without a fetch having asked, so a reader that stops costs at
 * most its window; what is still under way when it has been silent for `IDLE_MS` is cancelled. At the log's end there is
 * nothing to read ahead: commits bring the data. Main thread; owned by the fetch service.
 */
import type { Time, Timer } from '../common/time.ts';
import type { PartitionKey, TopicIdPartition } from '../common/topic-id-partition.ts';
import type { BatchCoordinate, DisklessCoordinator } from '../coordinator/diskless-coordinator.ts';
import { type CoordinateReader, type RunRead, releaseRuns } from './coordinate-reader.ts';
import type { LocalLog } from './local-log.ts';

const FIRST_WINDOW_BYTES = 256 * 1024;
const IDLE_MS = 5_000;
/** Readers remembered; beyond that the one silent longest is forgotten. */
const MAX_READERS = 10_000;

export interface ReadaheadOptions {
  readonly coordinator: DisklessCoordinator;
  readonly reader: CoordinateReader;
  readonly localLog: LocalLog;
  readonly time: Time;
  /** The largest window of one reader; 0 switches readahead off. */
  readonly maxWindowBytes: number;
  /** What all readers together may have read and not consumed yet. */
  readonly maxTotalBytes: number;
}

/** One fetch of a reader, as it was answered. */
export interface ServedFetch {
  readonly key: PartitionKey;
  readonly topicIdPartition: TopicIdPartition;
  readonly fetchOffset: bigint;
  readonly nextOffset: bigint;
  readonly highWatermark: bigint;
  /** Whether it found everything in the local view. */
  readonly wasLocal: boolean;
}

/** A coordinate read before its reader came for it. */
interface Ahead {
  readonly coordinate: BatchCoordinate;
  /** Undefined once it is in the local view. */
  read: RunRead | undefined;
}

interface SequentialReader {
  readonly topicIdPartition: TopicIdPartition;
  nextOffset: bigint;
  /** 0 until it has come back once. */
  windowBytes: number;
  /** Everything below is read or being read. */
  aheadOffset: bigint;
  ahead: Ahead[];
  isExtending: boolean;
  lastSeenMs: number;
}

export class Readahead {
  readonly #options: ReadaheadOptions;
  /** By partition and the offset at which the reader will go on; in the order in which they were last heard of. */
  readonly #readers = new Map<string, SequentialReader>();
  #aheadBytes = 0;
  #sweep: Timer | undefined;
  #isClosed = false;

  constructor(options: ReadaheadOptions) {
    this.#options = options;
  }

  /** Bytes read, or being read, that no reader has come for yet. */
  get aheadBytes(): number {
    return this.#aheadBytes;
  }

  onServed(fetch: ServedFetch): void {
    if (this.#options.maxWindowBytes === 0 || this.#isClosed) return;
    const reader = this.#take(fetch);
    if (fetch.nextOffset >= fetch.highWatermark) {
      if (reader) this.#stop(reader);
      return;
    }
    const known = reader ?? this.#newReader(fetch);
    if (reader) this.#adaptWindow(reader, fetch);
    this.#consume(known, fetch.nextOffset);
    this.#readers.set(`${fetch.key}@${fetch.nextOffset}`, known);
    this.#forgetSilentReaders();
    if (known.windowBytes > 0) void this.#extend(known);
  }

  close(): void {
    this.#isClosed = true;
    this.#sweep?.cancel();
    for (const reader of this.#readers.values()) this.#stop(reader);
    this.#readers.clear();
  }

  /** The reader that this fetch continues; it will be known by where it goes on. */
  #take({ key, fetchOffset }: ServedFetch): SequentialReader | undefined {
    const reader = this.#readers.get(`${key}@${fetchOffset}`);
    this.#readers.delete(`${key}@${fetchOffset}`);
    return reader;
  }

  #newReader({ topicIdPartition, nextOffset }: ServedFetch): SequentialReader {
    return {
      topicIdPartition,
      nextOffset,
      windowBytes: 0,
      aheadOffset: nextOffset,
      ahead: [],
      isExtending: false,
      lastSeenMs: 0,
    };
  }

  #adaptWindow(reader: SequentialReader, { key, wasLocal }: ServedFetch): void {
    const { maxWindowBytes, localLog } = this.#options;
    const isEvicted = ({ coordinate, read }: Ahead): boolean =>
      read === undefined && localLog.covering(key, coordinate.baseOffset, coordinate.lastOffset).length === 0;
    if (reader.windowBytes === 0) reader.windowBytes = Math.min(FIRST_WINDOW_BYTES, maxWindowBytes);
    else if (reader.ahead.some(isEvicted)) reader.windowBytes = Math.ceil(reader.windowBytes / 2);
    else if (!wasLocal) reader.windowBytes = Math.min(reader.windowBytes * 2, maxWindowBytes);
  }

  /** What the reader has passed is not ahead of it any more. */
  #consume(reader: SequentialReader, nextOffset: bigint): void {
    reader.nextOffset = nextOffset;
    reader.lastSeenMs = this.#options.time.monotonicMs();
    if (reader.aheadOffset < nextOffset) reader.aheadOffset = nextOffset;
    const passed = reader.ahead.filter(({ coordinate }) => coordinate.lastOffset < nextOffset);
    reader.ahead = reader.ahead.filter(({ coordinate }) => coordinate.lastOffset >= nextOffset);
    for (const { coordinate } of passed) this.#aheadBytes -= coordinate.size;
  }

  /** Reads on when less than half of the window is left before the reader. */
  async #extend(reader: SequentialReader): Promise<void> {
    const { coordinator, maxTotalBytes } = this.#options;
    const room = Math.min(reader.windowBytes - bytesOf(reader.ahead), maxTotalBytes - this.#aheadBytes);
    if (reader.isExtending || room <= reader.windowBytes / 2) return;
    reader.isExtending = true;
    try {
      const { topicIdPartition, aheadOffset } = reader;
      const [found] = await coordinator.findBatches({
        partitions: [{ topicIdPartition, fetchOffset: aheadOffset, maxBytes: room }],
        maxBytes: room,
        minOneBatch: bytesOf(reader.ahead) === 0,
      });
      for (const coordinate of found?.coordinates ?? []) this.#readAhead(reader, coordinate);
    } catch {
      // Nobody waits for it: the fetch that comes for these offsets meets the failure itself, if it lasts.
    } finally {
      reader.isExtending = false;
    }
  }

  #readAhead(reader: SequentialReader, coordinate: BatchCoordinate): void {
    if (this.#isClosed || coordinate.lastOffset < reader.aheadOffset) return;
    const read = this.#options.reader.read(reader.topicIdPartition, coordinate, 'readahead', 'scan');
    const ahead: Ahead = { coordinate, read };
    reader.ahead.push(ahead);
    reader.aheadOffset = coordinate.lastOffset + 1n;
    this.#aheadBytes += coordinate.size;
    read.outcome.then(
      ({ runs }) => {
        if (ahead.read === undefined) return; // cancelled while the outcome was on its way
        ahead.read = undefined;
        releaseRuns(runs); // the local view keeps it
      },
      () => {},
    );
    this.#sweep ??= this.#options.time.setTimer(IDLE_MS, () => this.#sweepSilentReaders());
  }

  /** Gives up what is under way for a reader, and forgets what was read for it. */
  #stop(reader: SequentialReader): void {
    for (const ahead of reader.ahead) {
      const { read } = ahead;
      ahead.read = undefined;
      this.#aheadBytes -= ahead.coordinate.size;
      read?.cancel(new Error('its reader has stopped'));
    }
    reader.ahead = [];
    reader.aheadOffset = reader.nextOffset;
  }

  #sweepSilentReaders(): void {
    this.#sweep = undefined;
    const sinceMs = this.#options.time.monotonicMs() - IDLE_MS;
    let areLeft = false;
    for (const [key, reader] of this.#readers) {
      if (reader.lastSeenMs > sinceMs) {
        areLeft ||= reader.ahead.length > 0;
        continue;
      }
      this.#stop(reader);
      this.#readers.delete(key);
    }
    if (areLeft) this.#sweep = this.#options.time.setTimer(IDLE_MS, () => this.#sweepSilentReaders());
  }

  #forgetSilentReaders(): void {
    if (this.#readers.size <= MAX_READERS) return;
    const [key, reader] = this.#readers.entries().next().value!;
    this.#stop(reader);
    this.#readers.delete(key);
  }
}

function bytesOf(ahead: readonly Ahead[]): number {
  return ahead.reduce((sum, { coordinate }) => sum + coordinate.size, 0);
}
