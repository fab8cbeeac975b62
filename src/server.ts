/// <reference types="node" preserve="true" />
/** `import … from 'shoal/server'`: Kafka's wire protocol over TCP in front of an engine. */
export { type AdminServer, type AdminServerOptions, startAdminServer } from './server/admin-server.ts';
export type { SupportedApi } from './server/apis/api-versions.ts';
export { type BrokerSettings, defaultBrokerSettings, type Endpoint } from './server/broker.ts';
export { type HealthParts, type HealthReport, HostHealth } from './server/host-health.ts';
export {
  type KafkaServer,
  type KafkaServerOptions,
  type KafkaServerStats,
  startKafkaServer,
} from './server/kafka-server.ts';
export { formatEndpoint, ListenError, parseEndpoint } from './server/listener.ts';
export { defaultServerLimits, type ServerLimits } from './server/server-limits.ts';
