/** Groups, their committed offsets and the state of share partitions in SQLite. */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import { comparePartitions, type TopicIdPartition } from '../../common/topic-id-partition.ts';
import type { CommittedOffset, GroupType, StoredGroup } from '../group-store.ts';
import { shareWriteError } from '../share-state-fencing.ts';
import type { SharePartitionKey, SharePartitionState, ShareStateWrite } from '../share-state-store.ts';
import { fromStored, toStored } from '../stored-text.ts';
import { decodeShareBatches, encodeShareBatches } from './blobs.ts';
import type { SqlDatabase, SqlRow } from './driver.ts';

type Errored = { readonly error: ErrorCode };
const NONE: Errored = { error: Errors.NONE };

function toPartition(row: SqlRow): TopicIdPartition {
  return { topicId: row.topic_id as string, partition: Number(row.partition) };
}

function toOffset(row: SqlRow): CommittedOffset {
  return {
    topicIdPartition: toPartition(row),
    offset: row.offset as bigint,
    leaderEpoch: Number(row.leader_epoch),
    metadata: fromStored(row.metadata as string),
    commitTimeMs: Number(row.commit_time_ms),
  };
}

function toGroup(row: SqlRow): StoredGroup {
  const [groupId, state] = [fromStored(row.group_id as string), row.state as string];
  return { groupId, type: row.type as GroupType, epoch: Number(row.epoch), state };
}

function toShareState(row: SqlRow): SharePartitionState {
  return {
    stateEpoch: Number(row.state_epoch),
    leaderEpoch: Number(row.leader_epoch),
    startOffset: row.start_offset as bigint,
    deliveryCompleteCount: Number(row.delivery_complete_count),
    stateBatches: decodeShareBatches(row.state_batches as Uint8Array),
  };
}

export class GroupTable {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  loadGroups(): StoredGroup[] {
    const groups = this.#database.sql('SELECT * FROM groups').all().map(toGroup);
    return groups.sort((a, b) => (a.groupId < b.groupId ? -1 : 1));
  }

  storeGroup({ groupId, type, epoch, state }: StoredGroup): Errored {
    const stored = this.#epochOf(groupId);
    if (stored !== undefined && stored > epoch) return { error: Errors.FENCED_MEMBER_EPOCH };
    this.#database.sql('INSERT OR REPLACE INTO groups VALUES (?, ?, ?, ?)').run(toStored(groupId), type, epoch, state);
    return NONE;
  }

  #epochOf(groupId: string): number | undefined {
    const row = this.#database.sql('SELECT epoch FROM groups WHERE group_id = ?').get(toStored(groupId));
    return row && Number(row.epoch);
  }

  deleteGroups(groupIds: readonly string[]): void {
    for (const groupId of groupIds.map(toStored)) {
      this.#database.sql('DELETE FROM groups WHERE group_id = ?').run(groupId);
      this.#database.sql('DELETE FROM group_offsets WHERE group_id = ?').run(groupId);
    }
  }

  commitOffsets(
    groupId: string,
    offsets: readonly CommittedOffset[],
    fence: { readonly epoch: number } | undefined,
    exists: (of: TopicIdPartition) => boolean,
  ): Errored[] {
    if (fence && this.#epochOf(groupId) !== fence.epoch) {
      return offsets.map(() => ({ error: Errors.ILLEGAL_GENERATION }));
    }
    const storedId = toStored(groupId);
    const replace = this.#database.sql('INSERT OR REPLACE INTO group_offsets VALUES (?, ?, ?, ?, ?, ?, ?)');
    return offsets.map(({ topicIdPartition: of, offset, leaderEpoch, metadata, commitTimeMs }) => {
      if (!exists(of)) return { error: Errors.UNKNOWN_TOPIC_OR_PARTITION };
      replace.run(storedId, of.topicId, of.partition, offset, leaderEpoch, toStored(metadata), commitTimeMs);
      return NONE;
    });
  }

  fetchOffsets(groupId: string, partitions?: readonly TopicIdPartition[]): CommittedOffset[] {
    const storedId = toStored(groupId);
    if (!partitions) {
      const offsets = this.#database.sql('SELECT * FROM group_offsets WHERE group_id = ?').all(storedId).map(toOffset);
      return offsets.sort((a, b) => comparePartitions(a.topicIdPartition, b.topicIdPartition));
    }
    const select = this.#database.sql(
      'SELECT * FROM group_offsets WHERE group_id = ? AND topic_id = ? AND partition = ?',
    );
    const rows = partitions.map(({ topicId, partition }) => select.get(storedId, topicId, partition));
    return rows.filter((row) => row !== undefined).map(toOffset);
  }

  deleteOffsets(groupId: string, partitions: readonly TopicIdPartition[]): void {
    const remove = this.#database.sql(
      'DELETE FROM group_offsets WHERE group_id = ? AND topic_id = ? AND partition = ?',
    );
    const storedId = toStored(groupId);
    for (const { topicId, partition } of partitions) remove.run(storedId, topicId, partition);
  }

  #shareState({ groupId, topicIdPartition: of }: SharePartitionKey): SharePartitionState | undefined {
    const row = this.#database
      .sql('SELECT * FROM share_states WHERE group_id = ? AND topic_id = ? AND partition = ?')
      .get(toStored(groupId), of.topicId, of.partition);
    return row && toShareState(row);
  }

  readShareStates(keys: readonly SharePartitionKey[]): (SharePartitionState | undefined)[] {
    return keys.map((key) => this.#shareState(key));
  }

  writeShareStates(writes: readonly ShareStateWrite[], exists: (of: TopicIdPartition) => boolean): Errored[] {
    return writes.map(({ key, expected, state }) => {
      if (state && !exists(key.topicIdPartition)) return { error: Errors.UNKNOWN_TOPIC_OR_PARTITION };
      const error = shareWriteError(this.#shareState(key), expected);
      if (error !== Errors.NONE) return { error };
      const where = [toStored(key.groupId), key.topicIdPartition.topicId, key.topicIdPartition.partition] as const;
      if (state) this.#replaceShareState(where, state);
      else
        this.#database
          .sql('DELETE FROM share_states WHERE group_id = ? AND topic_id = ? AND partition = ?')
          .run(...where);
      return NONE;
    });
  }

  #replaceShareState(where: readonly [string, string, number], state: SharePartitionState): void {
    this.#database
      .sql('INSERT OR REPLACE INTO share_states VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
      .run(
        ...where,
        state.stateEpoch,
        state.leaderEpoch,
        state.startOffset,
        state.deliveryCompleteCount,
        encodeShareBatches(state.stateBatches),
      );
  }

  listSharePartitions(groupId: string): TopicIdPartition[] {
    const rows = this.#database
      .sql('SELECT topic_id, partition FROM share_states WHERE group_id = ?')
      .all(toStored(groupId));
    return rows.map(toPartition).sort(comparePartitions);
  }
}
