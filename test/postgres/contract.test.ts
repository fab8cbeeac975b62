import { testDisklessCoordinator } from '../contract/diskless-coordinator.ts';
import { postgresHarness, usePostgres } from './postgres-harness.ts';

const { url } = usePostgres();
testDisklessCoordinator(postgresHarness(url));
