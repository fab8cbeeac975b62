/**
 * What every admin client is put through: AdminScenario.java, admin.py and kafkajs-admin.ts do the same steps and tell what
 * they saw. A topic of three partitions is created, described, altered and grown to four; `records` records go to each
 * partition, a second apart from `base`; a group reads them, is described while it lives, and its offsets are altered;
 * records, group and topic are deleted. What must be refused is tried, and answered by the name of Kafka's error.
 */

export interface AdminScenario {
  readonly address: string;
  /** Also the client id. */
  readonly topic: string;
  readonly group: string;
  /** In ms. */
  readonly base: number;
  readonly records: number;
}

/** Lists are by partition. */
export interface AdminAnswers {
  /** Creating the topic once more; with a config that there is not. */
  readonly createdAgain: string;
  readonly unknownConfig: string;
  readonly listed: boolean;
  readonly partitions: number;
  readonly leader: number;
  readonly grown: number;
  /** Fewer partitions than there are. */
  readonly fewer: string;
  /** retention.ms as created, as altered, and as reset to its default. */
  readonly retentions: readonly string[];
  readonly badConfig: string;
  readonly earliest: readonly number[];
  readonly latest: readonly number[];
  /** The first offsets whose timestamps are five seconds after `base`, or later. */
  readonly at: readonly number[];
  readonly state: string;
  readonly members: number;
  /** Deleting a group that has a member. */
  readonly nonEmpty: string;
  readonly committed: readonly number[];
  /** Offsets after the first two were set to 0 and 5. */
  readonly reset: readonly number[];
  readonly groupListed: boolean;
  /** Deleting a group that is gone. */
  readonly groupGone: string;
  /** After records were deleted up to 4 in partition 0 and up to the end in partition 1. */
  readonly lowWatermarks: readonly number[];
  /** Deleting records beyond the end. */
  readonly beyond: string;
  readonly clusterId: string;
  readonly controller: number;
  readonly brokers: readonly string[];
  readonly acls: string;
  /** Deleting a topic that is gone. */
  readonly unknownTopic: string;
}
