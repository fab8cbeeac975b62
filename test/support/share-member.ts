/** A share consumer without a wire: drives an engine's share fetches and acknowledgements as a broker would for it. */
import { Errors } from '../../src/common/errors.ts';
import type { TopicIdPartition } from '../../src/common/topic-id-partition.ts';
import type { DisklessEngine } from '../../src/engine/diskless-engine.ts';
import type {
  ShareAcknowledgementBatch,
  ShareFetchRequest,
  ShareFetchResult,
} from '../../src/share/share-fetch-request.ts';

export class ShareMember {
  /** Of its share session; 0 opens one. */
  epoch = 0;
  readonly id: string;
  readonly #engine: DisklessEngine;
  readonly #groupId: string;

  constructor(engine: DisklessEngine, groupId: string, id: string) {
    this.#engine = engine;
    this.#groupId = groupId;
    this.id = id;
  }

  async fetch(
    partitions: readonly TopicIdPartition[],
    more: Partial<ShareFetchRequest> = {},
    signal?: AbortSignal,
  ): Promise<ShareFetchResult> {
    const opening = this.epoch === 0;
    const request: ShareFetchRequest = {
      groupId: this.#groupId,
      memberId: this.id,
      sessionEpoch: this.epoch,
      apiVersion: 2,
      isRenewAck: false,
      partitions: opening ? partitions.map((topicIdPartition) => ({ topicIdPartition, acknowledgements: [] })) : [],
      forgotten: [],
      maxWaitMs: 0,
      minBytes: 1,
      maxBytes: 1024 * 1024,
      maxRecords: 500,
      batchSize: 500,
      acquireMode: 'batch_optimized',
      ...more,
    };
    const result = await this.#engine.shareFetch(request, signal && { signal });
    if (result.error === Errors.NONE) this.epoch++;
    return result;
  }

  /** Fetches, and says which ranges it acquired, with their delivery counts; the bytes are given back. */
  async take(partitions: readonly TopicIdPartition[], more: Partial<ShareFetchRequest> = {}): Promise<number[][]> {
    const result = await this.fetch(partitions, more);
    const acquired = result.partitions.flatMap(({ acquiredRecords }) => acquiredRecords);
    result.release();
    return acquired.map((one) => [Number(one.firstOffset), Number(one.lastOffset), one.deliveryCount]);
  }

  /** The partition's error, or that of the whole request. */
  async acknowledge(of: TopicIdPartition, ...acknowledgements: ShareAcknowledgementBatch[]): Promise<number> {
    return (await this.acknowledgeAll(new Map([[of, acknowledgements]])))[0]!;
  }

  /** Each partition's error, in order. */
  async acknowledgeAll(
    acknowledgements: ReadonlyMap<TopicIdPartition, readonly ShareAcknowledgementBatch[]>,
  ): Promise<number[]> {
    const result = await this.#engine.shareAcknowledge({
      groupId: this.#groupId,
      memberId: this.id,
      sessionEpoch: this.epoch,
      apiVersion: 2,
      isRenewAck: false,
      partitions: [...acknowledgements].map(([topicIdPartition, batches]) => {
        return { topicIdPartition, acknowledgements: batches };
      }),
    });
    if (result.error !== Errors.NONE) return [result.error];
    this.epoch++;
    return result.partitions.map(({ error }) => error);
  }
}
