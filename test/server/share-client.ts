/** A share consumer made of exact requests: one connection, one member, its epochs counted as a client counts them. */
import { Errors } from '../../src/common/errors.ts';
import type { RequestToSend, ResponseRead } from '../../src/protocol/api.ts';
import { shareAcknowledge } from '../../src/protocol/messages/share-acknowledge.ts';
import { shareFetch } from '../../src/protocol/messages/share-fetch.ts';
import { shareGroupHeartbeat } from '../../src/protocol/messages/share-group-heartbeat.ts';
import { readRecords } from '../support/read-records.ts';
import type { WireClient } from './wire-client.ts';

export interface Acknowledgement {
  readonly first: number;
  readonly last: number;
  readonly types: readonly number[];
  readonly partition?: number;
}

type FetchFields = Partial<RequestToSend<typeof shareFetch>>;

export class ShareClient {
  readonly #client: WireClient;
  readonly memberId: string;
  readonly groupId: string;
  readonly #version: number;
  sessionEpoch = 0;
  memberEpoch = 0;

  constructor(client: WireClient, groupId: string, memberId: string, version = 2) {
    this.#client = client;
    this.groupId = groupId;
    this.memberId = memberId;
    this.#version = version;
  }

  async heartbeat(subscribedTopicNames: readonly string[] | null, memberEpoch = this.memberEpoch) {
    const { groupId, memberId } = this;
    const answer = await this.#client.call(shareGroupHeartbeat, 1, {
      groupId,
      memberId,
      memberEpoch,
      subscribedTopicNames,
    });
    if (answer.errorCode === Errors.NONE) this.memberEpoch = answer.memberEpoch;
    return answer;
  }

  /** The whole answer; `acknowledgements` go to `topicId`. */
  async fetch(topicId: string, partitions: readonly number[], acknowledgements: Acknowledgement[], more: FetchFields) {
    const topics = topicsOf(topicId, partitions, acknowledgements);
    const answer = await this.#client.call(shareFetch, this.#version, {
      groupId: this.groupId,
      memberId: this.memberId,
      shareSessionEpoch: this.sessionEpoch,
      maxWaitMs: 0,
      minBytes: 1,
      maxBytes: 1024 * 1024,
      maxRecords: 500,
      batchSize: 500,
      topics,
      forgottenTopicsData: [],
      ...more,
    });
    if (answer.errorCode === Errors.NONE) this.sessionEpoch += 1;
    return answer;
  }

  async acknowledge(topicId: string, acknowledgements: Acknowledgement[], more: { isRenewAck?: boolean } = {}) {
    const answer = await this.#client.call(shareAcknowledge, this.#version, {
      groupId: this.groupId,
      memberId: this.memberId,
      shareSessionEpoch: this.sessionEpoch,
      topics: topicsOf(topicId, [], acknowledgements),
      ...more,
    });
    if (answer.errorCode === Errors.NONE) this.sessionEpoch += 1;
    return answer;
  }
}

function topicsOf(topicId: string, partitions: readonly number[], acknowledgements: readonly Acknowledgement[]) {
  const all = new Set([...partitions, ...acknowledgements.map(({ partition = 0 }) => partition)]);
  if (all.size === 0) return [];
  const batchesOf = (index: number) =>
    acknowledgements
      .filter(({ partition = 0 }) => partition === index)
      .map(({ first, last, types }) => {
        return { firstOffset: BigInt(first), lastOffset: BigInt(last), acknowledgeTypes: types };
      });
  const asked = [...all].map((partitionIndex) => ({
    partitionIndex,
    acknowledgementBatches: batchesOf(partitionIndex),
  }));
  return [{ topicId, partitions: asked }];
}

/** `partition: first-last×count` of everything that an answer acquired, and the values that came with it. */
export function acquiredOf({ responses }: ResponseRead<typeof shareFetch>) {
  const partitions = responses.flatMap((topic) => topic.partitions);
  const acquired = partitions.flatMap(({ partitionIndex, acquiredRecords }) =>
    acquiredRecords.map((one) => `${partitionIndex}: ${one.firstOffset}-${one.lastOffset}×${one.deliveryCount}`),
  );
  const values = partitions.flatMap(({ records }) => readRecords([records]).map(({ value }) => value));
  return { acquired, values };
}
