/// <reference types="node" preserve="true" />
/** `import … from 'shoal/sqlite'`: the embedded Diskless Coordinator. */
export { openSqliteCoordinator, type SqliteCoordinatorOptions } from './coordinator/sqlite-diskless-coordinator.ts';
