/** Groups, their committed offsets and the state of share partitions over PostgreSQL. */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import { comparePartitions, partitionKey, type TopicIdPartition } from '../../common/topic-id-partition.ts';
import type { CommittedOffset, GroupType, StoredGroup } from '../group-store.ts';
import type { SharePartitionKey, SharePartitionState, ShareStateWrite } from '../share-state-store.ts';
import { fromStored, toStored } from '../stored-text.ts';
import type { Connections, Row } from './connections.ts';
import { partitionArrays } from './lookups.ts';

type Errored = { readonly error: ErrorCode };

function toPartition(row: Row): TopicIdPartition {
  return { topicId: row.topic_id as string, partition: row.partition as number };
}

function toOffset(row: Row): CommittedOffset {
  return {
    topicIdPartition: toPartition(row),
    offset: row.offset as bigint,
    leaderEpoch: row.leader_epoch as number,
    metadata: fromStored(row.metadata as string),
    commitTimeMs: Number(row.commit_time_ms),
  };
}

function toShareState(row: Row): SharePartitionState {
  const [firsts, lasts] = [row.first_offsets as bigint[], row.last_offsets as bigint[]];
  const [states, counts] = [row.delivery_states as number[], row.delivery_counts as number[]];
  return {
    stateEpoch: row.state_epoch as number,
    leaderEpoch: row.leader_epoch as number,
    startOffset: row.start_offset as bigint,
    deliveryCompleteCount: row.delivery_complete_count as number,
    stateBatches: firsts.map((firstOffset, i) => {
      return { firstOffset, lastOffset: lasts[i]!, deliveryState: states[i]!, deliveryCount: counts[i]! };
    }),
  };
}

/** As the database function reads it; offsets are text, which JSON numbers could not carry. */
function toJson({ key, expected, state }: ShareStateWrite): object {
  const where = {
    group: toStored(key.groupId),
    topic: key.topicIdPartition.topicId,
    partition: key.topicIdPartition.partition,
  };
  const guard = {
    expectedStateEpoch: expected?.stateEpoch ?? null,
    expectedLeaderEpoch: expected?.leaderEpoch ?? null,
  };
  if (!state) return { ...where, ...guard };
  const batches = state.stateBatches.map(({ firstOffset, lastOffset, deliveryState, deliveryCount }) => {
    return [`${firstOffset}`, `${lastOffset}`, deliveryState, deliveryCount];
  });
  const { stateEpoch, leaderEpoch, startOffset, deliveryCompleteCount } = state;
  return { ...where, ...guard, stateEpoch, leaderEpoch, startOffset: `${startOffset}`, deliveryCompleteCount, batches };
}

export class PostgresGroups {
  readonly #connections: Connections;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  async loadGroups(): Promise<StoredGroup[]> {
    const rows = await this.#connections.query({ text: 'SELECT * FROM groups' });
    const groups = rows.map((row): StoredGroup => {
      const [groupId, state] = [fromStored(row.group_id as string), row.state as string];
      return { groupId, type: row.type as GroupType, epoch: Number(row.epoch), state };
    });
    return groups.sort((a, b) => (a.groupId < b.groupId ? -1 : 1));
  }

  async storeGroup({ groupId, type, epoch, state }: StoredGroup): Promise<Errored> {
    const rows = await this.#connections.query({
      name: 'store_group',
      text: `INSERT INTO groups AS g VALUES ($1, $2, $3, $4) ON CONFLICT (group_id) DO UPDATE
        SET type = excluded.type, epoch = excluded.epoch, state = excluded.state WHERE g.epoch <= excluded.epoch RETURNING 1`,
      values: [toStored(groupId), type, epoch, state],
    });
    return { error: rows.length === 1 ? Errors.NONE : Errors.FENCED_MEMBER_EPOCH };
  }

  async deleteGroups(groupIds: readonly string[]): Promise<void> {
    const stored = groupIds.map(toStored);
    await this.#connections.transaction(async (client) => {
      await client.query('DELETE FROM groups WHERE group_id = ANY ($1)', [stored]);
      await client.query('DELETE FROM group_offsets WHERE group_id = ANY ($1)', [stored]);
    });
  }

  async commitOffsets(
    groupId: string,
    offsets: readonly CommittedOffset[],
    fence?: { readonly epoch: number },
  ): Promise<Errored[]> {
    if (offsets.length === 0) return [];
    const [row] = await this.#connections.query({
      name: 'commit_offsets',
      text: 'SELECT commit_offsets($1, $2, $3, $4, $5, $6, $7, $8) AS errors',
      values: [
        toStored(groupId),
        fence?.epoch ?? null,
        ...partitionArrays(offsets.map(({ topicIdPartition }) => topicIdPartition)),
        offsets.map(({ offset }) => offset),
        offsets.map(({ leaderEpoch }) => leaderEpoch),
        offsets.map(({ metadata }) => toStored(metadata)),
        offsets.map(({ commitTimeMs }) => commitTimeMs),
      ],
    });
    const errors = row!.errors as number[] | null;
    return offsets.map((_, index) => ({ error: errors ? errors[index]! : Errors.ILLEGAL_GENERATION }));
  }

  async fetchOffsets(groupId: string, partitions?: readonly TopicIdPartition[]): Promise<CommittedOffset[]> {
    const rows = await this.#connections.query({
      name: 'fetch_offsets',
      text: 'SELECT * FROM group_offsets WHERE group_id = $1 AND ($2::text[] IS NULL OR topic_id = ANY ($2))',
      values: [toStored(groupId), partitions?.map(({ topicId }) => topicId) ?? null],
    });
    const offsets = rows.map(toOffset).sort((a, b) => comparePartitions(a.topicIdPartition, b.topicIdPartition));
    if (!partitions) return offsets;
    const byKey = new Map(offsets.map((offset) => [partitionKey(offset.topicIdPartition), offset]));
    return partitions.map((of) => byKey.get(partitionKey(of))).filter((offset) => offset !== undefined);
  }

  async deleteOffsets(groupId: string, partitions: readonly TopicIdPartition[]): Promise<void> {
    await this.#connections.query({
      text: `DELETE FROM group_offsets o USING unnest($2::text[], $3::int[]) AS p (topic_id, partition)
        WHERE o.group_id = $1 AND o.topic_id = p.topic_id AND o.partition = p.partition`,
      values: [toStored(groupId), ...partitionArrays(partitions)],
    });
  }

  async readShareStates(keys: readonly SharePartitionKey[]): Promise<(SharePartitionState | undefined)[]> {
    if (keys.length === 0) return [];
    const rows = await this.#connections.query({
      name: 'read_share_states',
      text: `SELECT k.ix::int, s.* FROM unnest($1::text[], $2::text[], $3::int[]) WITH ORDINALITY AS k (group_id, topic_id, partition, ix)
        JOIN share_states s USING (group_id, topic_id, partition)`,
      values: [
        keys.map(({ groupId }) => toStored(groupId)),
        ...partitionArrays(keys.map(({ topicIdPartition }) => topicIdPartition)),
      ],
    });
    const states: (SharePartitionState | undefined)[] = keys.map(() => undefined);
    for (const row of rows) states[(row.ix as number) - 1] = toShareState(row);
    return states;
  }

  async writeShareStates(writes: readonly ShareStateWrite[]): Promise<Errored[]> {
    if (writes.length === 0) return [];
    const [row] = await this.#connections.query({
      name: 'write_share_states',
      text: 'SELECT write_share_states($1) AS errors',
      values: [JSON.stringify(writes.map(toJson))],
    });
    return (row!.errors as number[]).map((error) => ({ error }));
  }

  async listSharePartitions(groupId: string): Promise<TopicIdPartition[]> {
    const rows = await this.#connections.query({
      text: 'SELECT topic_id, partition FROM share_states WHERE group_id = $1',
      values: [toStored(groupId)],
    });
    return rows.map(toPartition).sort(comparePartitions);
  }
}
