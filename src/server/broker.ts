/** What the handlers of one broker share. Made by `startKafkaServer`; owns nothing, closes nothing. */
import type { Logger } from '../common/logger.ts';
import type { MetricsRegistry } from '../common/metrics-registry.ts';
import type { Random } from '../common/random.ts';
import type { Time } from '../common/time.ts';
import type { DisklessCoordinator } from '../coordinator/diskless-coordinator.ts';
import type { DisklessEngine } from '../engine/diskless-engine.ts';
import type { GroupSettings } from '../group/group-settings.ts';
import type { BrokerTopics } from './broker-topics.ts';
import type { ServerLimits } from './server-limits.ts';

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** By Kafka's names, in camel case. */
export interface BrokerSettings {
  /** `auto.create.topics.enable`: Metadata for a topic that does not exist creates it. @default true */
  readonly autoCreateTopicsEnable: boolean;
  /** `fetch.max.bytes`: what one Fetch gets at most, whatever it asks for. @default 55 MiB */
  readonly fetchMaxBytes: number;
  /** `max.incremental.fetch.session.cache.slots`: fetch sessions (KIP-227) at a time. 0: none. @default 1,000 */
  readonly maxIncrementalFetchSessionCacheSlots: number;
  /** Partitions of all fetch sessions together; beyond it clients fetch without a session. @default 500,000 */
  readonly fetchSessionMaxPartitions: number;
  /** `num.partitions`: partitions of a topic that is created without a count. @default 1 */
  readonly numPartitions: number;
  /** Of the group coordinator; what is left out has its default. */
  readonly group?: Partial<GroupSettings>;
}

export const defaultBrokerSettings: BrokerSettings = Object.freeze({
  autoCreateTopicsEnable: true,
  numPartitions: 1,
  fetchMaxBytes: 55 * 1024 * 1024,
  maxIncrementalFetchSessionCacheSlots: 1_000,
  fetchSessionMaxPartitions: 500_000,
});

export interface Broker {
  readonly engine: DisklessEngine;
  readonly coordinator: DisklessCoordinator;
  readonly topics: BrokerTopics;
  readonly nodeId: number;
  /** `broker.rack`; null when none was given. */
  readonly rack: string | null;
  /** Where clients are told to connect; known once the server listens, so read it per request. */
  readonly advertisedListener: Endpoint;
  /** Where it listens. */
  readonly listener: Endpoint;
  readonly settings: BrokerSettings;
  /** `settings.group` with its defaults. */
  readonly groupSettings: GroupSettings;
  readonly limits: ServerLimits;
  readonly time: Time;
  readonly random: Random;
  readonly logger: Logger;
  /** Where handlers and modules register what they measure. */
  readonly metrics: MetricsRegistry;
}
