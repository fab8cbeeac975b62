/** One read of the log for a share fetch: what it returned per partition, and the acquisition on it. Main thread. */
import { type ErrorCode, Errors } from '../common/errors.ts';
import type { TopicIdPartition } from '../common/topic-id-partition.ts';
import { bytesOfLogBatches, readLogBatches } from './log-batches.ts';
import { sliceLogBatches } from './share-fetch-order.ts';
import type { ShareAcquiredRecords, ShareFetchRequest } from './share-fetch-request.ts';
import type { LedPartition } from './share-partitions.ts';

interface LogPartitionData {
  readonly error: ErrorCode;
  readonly records: readonly Uint8Array[];
  readonly abortedTransactions: readonly { readonly producerId: bigint; readonly firstOffset: bigint }[];
}

/** The engine's ordinary fetch, as far as share fetches need it. */
export interface ShareLogReader {
  fetch(
    params: {
      readonly minBytes: number;
      readonly maxWaitMs: number;
      readonly maxBytes: number;
      readonly isolation: 'read_uncommitted' | 'read_committed';
    },
    partitions: readonly {
      readonly topicIdPartition: TopicIdPartition;
      readonly fetchOffset: bigint;
      readonly maxBytes: number;
    }[],
  ): Promise<{ readonly partitions: readonly LogPartitionData[]; release(): void }>;
}

export interface ReadAcquisition {
  readonly acquiredRecords: readonly ShareAcquiredRecords[];
  readonly records: readonly Uint8Array[];
  /** Records acquired. */
  readonly count: number;
}

export class ShareRead {
  readonly #led: readonly LedPartition[];
  readonly #fetchOffsets: readonly number[];
  readonly #data: readonly LogPartitionData[];
  readonly #release: () => void;

  private constructor(
    led: readonly LedPartition[],
    fetchOffsets: readonly number[],
    data: readonly LogPartitionData[],
    release: () => void,
  ) {
    this.#led = led;
    this.#fetchOffsets = fetchOffsets;
    this.#data = data;
    this.#release = release;
  }

  /** Reads what is there now at each partition's next fetch offset; the partitions' fetch locks are held. */
  static async start(
    reader: ShareLogReader,
    led: readonly LedPartition[],
    budgets: readonly number[],
    maxBytes: number,
    isolation: 'read_uncommitted' | 'read_committed',
  ): Promise<ShareRead> {
    const offsets = led.map(({ partition }) => partition.nextFetchOffset());
    const wanted = led.map(({ topicIdPartition }, index) => {
      return { topicIdPartition, fetchOffset: BigInt(offsets[index]!), maxBytes: Math.max(1, budgets[index]!) };
    });
    const result = await reader.fetch({ minBytes: 0, maxWaitMs: 0, maxBytes, isolation }, wanted);
    return new ShareRead(led, offsets, result.partitions, () => result.release());
  }

  /** Bytes read in all. */
  get bytes(): number {
    return this.#data.reduce((sum, { records }) => sum + records.reduce((size, run) => size + run.length, 0), 0);
  }

  get hasError(): boolean {
    return this.#data.some(({ error }) => error !== Errors.NONE);
  }

  errorOf(index: number): ErrorCode {
    return this.#data[index]!.error;
  }

  /** Acquires for the member what the budget of records allows, and cuts the bytes to the log batches concerned. */
  acquire(index: number, request: ShareFetchRequest, maxRecords: number): ReadAcquisition {
    const data = this.#data[index]!;
    const { partition } = this.#led[index]!;
    const fetchOffset = this.#fetchOffsets[index]!;
    // Beyond what is tracked, no more than the budget is acquired, rounded up to a log batch.
    const read = readLogBatches(data.records, { from: Math.max(fetchOffset, partition.endOffset), reach: maxRecords });
    const acquired = partition.acquire(
      {
        memberId: request.memberId,
        mode: request.acquireMode,
        batchSize: request.batchSize,
        maxRecords,
        fetchOffset,
        logBatches: read.logBatches,
      },
      {
        batches: read.transactional,
        aborted: data.abortedTransactions.map(({ producerId, firstOffset }) => ({
          producerId,
          firstOffset: Number(firstOffset),
        })),
      },
    );
    const range = sliceLogBatches(read.logBatches, acquired);
    return {
      acquiredRecords: acquired.map(({ first, last, deliveryCount }) => {
        return { firstOffset: BigInt(first), lastOffset: BigInt(last), deliveryCount };
      }),
      records: range ? bytesOfLogBatches(data.records, read, range.firstBatch, range.lastBatch) : [],
      count: acquired.reduce((sum, { first, last }) => sum + last - first + 1, 0),
    };
  }

  release(): void {
    this.#release();
  }
}
