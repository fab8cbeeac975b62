/** The APIs that a broker serves: one line per module. */
import type { ApiModule } from './api-handler.ts';
import { adminApis } from './apis/admin-apis.ts';
import { groupApis } from './apis/group-apis.ts';
import { logApis } from './apis/log-apis.ts';
import { shareApis } from './apis/share-apis.ts';
import type { Broker } from './broker.ts';

/** Makes the handlers of one module; may read what it needs from the coordinator first. */
export type ApiModuleFactory = (broker: Broker) => ApiModule | Promise<ApiModule>;

export const apiModules: readonly ApiModuleFactory[] = [logApis, groupApis, shareApis, adminApis];
