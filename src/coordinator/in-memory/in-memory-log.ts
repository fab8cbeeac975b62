/** A partition of the in-memory coordinator: its head and its coordinates, in plain arrays. */
import type { TopicIdPartition } from '../../common/topic-id-partition.ts';
import type { LogHead, NewCoordinate } from '../assign-offsets.ts';
import type { BatchCoordinate } from '../diskless-coordinator.ts';
import type { ListOffsetsLog } from '../list-offsets.ts';
import type { ProducerState } from '../producer-state.ts';

export interface StoredCoordinate extends BatchCoordinate {
  readonly appendTimeMs: bigint;
  readonly offsetOfMaxTimestamp: bigint;
}

export class InMemoryLog implements LogHead, ListOffsetsLog {
  readonly topicIdPartition: TopicIdPartition;
  logStartOffset = 0n;
  highWatermark = 0n;
  leaderEpoch = 0;
  lastAppendTimeMs = -1n;
  readonly producers = new Map<bigint, ProducerState>();
  /** By rising offset, dense up to the high watermark. */
  readonly coordinates: StoredCoordinate[] = [];

  constructor(topicIdPartition: TopicIdPartition) {
    this.topicIdPartition = topicIdPartition;
  }

  add(objectKey: string, coordinate: NewCoordinate): void {
    const { producerAppends, ...rest } = coordinate;
    const logAppendTimeMs = rest.timestampType === 1 ? rest.appendTimeMs : -1n;
    this.coordinates.push({ objectKey, logAppendTimeMs, ...rest });
  }

  /** The coordinates from the one that holds `offset`. */
  *from(offset: bigint): Generator<StoredCoordinate> {
    for (const coordinate of this.coordinates) {
      if (coordinate.lastOffset >= offset) yield coordinate;
    }
  }

  firstAtLeast(timestamp: bigint, fromOffset: bigint): BatchCoordinate | undefined {
    for (const coordinate of this.from(fromOffset)) {
      if (coordinate.maxTimestamp >= timestamp) return toBatchCoordinate(coordinate);
    }
    return undefined;
  }

  greatest(fromOffset: bigint): { readonly coordinate: BatchCoordinate; readonly offset: bigint } | undefined {
    let greatest: StoredCoordinate | undefined;
    for (const coordinate of this.from(fromOffset)) {
      if (coordinate.maxTimestamp > (greatest?.maxTimestamp ?? -1n)) greatest = coordinate;
    }
    return greatest && { coordinate: toBatchCoordinate(greatest), offset: greatest.offsetOfMaxTimestamp };
  }

  get bytes(): bigint {
    return this.coordinates.reduce((sum, { size }) => sum + BigInt(size), 0n);
  }
}

/** Without what only the store needs. */
export function toBatchCoordinate(stored: StoredCoordinate): BatchCoordinate {
  const { appendTimeMs, offsetOfMaxTimestamp, ...coordinate } = stored;
  return coordinate;
}
