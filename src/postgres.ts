/// <reference types="node" preserve="true" />
/** `import … from 'shoal/postgres'`: the Diskless Coordinator that many brokers share. The client loads when one opens. */
export {
  openPostgresCoordinator,
  type PostgresCoordinatorOptions,
} from './coordinator/postgres-diskless-coordinator.ts';
