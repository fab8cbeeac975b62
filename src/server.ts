/** `import … from 'shoal/server'`: Kafka's wire protocol over TCP in front of an engine. */
export type { SupportedApi } from './server/apis/api-versions.ts';
export type { BrokerSettings, Endpoint } from './server/broker.ts';
export {
  defaultBrokerSettings,
  type KafkaServer,
  type KafkaServerOptions,
  type KafkaServerStats,
  startKafkaServer,
} from './server/kafka-server.ts';
export { formatEndpoint, ListenError, parseEndpoint } from './server/listener.ts';
export { defaultServerLimits, type ServerLimits } from './server/server-limits.ts';
