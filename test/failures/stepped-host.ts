/**
 * A broker host in a process of its own that ends or stops itself at a named step of an append: entry of the tests in this
 * folder. What `shoal serve` puts together is put together here over parts that are watched: the product has no such hook.
 * Its objects lie in `<data>/segments`, its coordinator is SQLite or what `--coordinator` names.
 */
import { mkdirSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { DisklessCoordinator } from '../../src/coordinator/diskless-coordinator.ts';
import { openEngine } from '../../src/engine/engine.ts';
import { openPostgresCoordinator } from '../../src/postgres.ts';
import { startKafkaServer } from '../../src/server/kafka-server.ts';
import { formatEndpoint, parseEndpoint } from '../../src/server/listener.ts';
import { openSqliteCoordinator } from '../../src/sqlite.ts';
import { LocalDirectoryObjectStorage } from '../../src/storage/local-directory-object-storage.ts';
import type { ObjectStorage } from '../../src/storage/object-storage.ts';
import { intercept } from '../support/intercept.ts';
import type { Step } from './steps.ts';

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    listen: { type: 'string' },
    coordinator: { type: 'string' },
    schema: { type: 'string' },
    'node-id': { type: 'string', default: '1' },
    /** Where to act, at which time it comes by, and what to do: the signal that the process sends itself. */
    step: { type: 'string' },
    at: { type: 'string', default: '1' },
    signal: { type: 'string', default: 'SIGKILL' },
    /** Any engine settings, as JSON. */
    settings: { type: 'string', default: '{}' },
  },
});

let passed = 0;

function reach(step: Step): void {
  if (step !== values.step) return;
  passed += 1;
  if (passed !== Number(values.at)) return;
  writeSync(1, `at ${step}\n`);
  process.kill(process.pid, values.signal as NodeJS.Signals);
}

async function openCoordinator(folder: string): Promise<DisklessCoordinator> {
  const { coordinator, schema } = values;
  if (coordinator === undefined) return openSqliteCoordinator({ path: join(folder, 'coordinator.db') });
  const deadlines = { connectTimeoutMs: 5_000, statementTimeoutMs: 5_000 };
  return openPostgresCoordinator({ connectionString: coordinator, schema: schema!, ...deadlines });
}

/** How many objects there are that coordinates refer to, and how many others. */
async function describeObjects(objects: ObjectStorage, metadata: DisklessCoordinator): Promise<string> {
  const keys: string[] = [];
  for await (const { key } of objects.list()) keys.push(key);
  const described = await metadata.describeFiles(keys);
  const referenced = described.filter((file) => file?.state === 'uploaded').length;
  return `objects ${referenced} others ${keys.length - referenced}`;
}

async function run(): Promise<void> {
  const folder = values.data!;
  mkdirSync(folder, { recursive: true });
  const objects = await LocalDirectoryObjectStorage.open(join(folder, 'segments'));
  const metadata = await openCoordinator(folder);
  const objectStorage = intercept(objects, {
    put: async (...args) => {
      reach('before-put');
      await objects.put(...args);
      reach('after-put');
    },
  });
  const coordinator = intercept(metadata, {
    commitFile: async (request) => {
      const answer = metadata.commitFile(request);
      setTimeout(() => reach('during-commit'), 0);
      const result = await answer;
      reach('before-ack');
      return result;
    },
  });
  const settings = JSON.parse(values.settings) as object;
  const nodeId = Number(values['node-id']);
  const engine = await openEngine({ objectStorage, coordinator }, { workerThreads: 1, ...settings, nodeId });
  const server = await startKafkaServer(engine, { coordinator, listen: parseEndpoint(values.listen!), nodeId });
  process.once('SIGTERM', async () => {
    await server.close();
    await engine.close();
    await metadata.close();
    await objects.close();
  });
  process.on('SIGUSR2', async () => writeSync(1, `${await describeObjects(objects, metadata)}\n`));
  writeSync(1, `ready ${formatEndpoint(server.listener)}\n`);
}

await run();
