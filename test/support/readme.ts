/** `npm run readme`: writes the parts of the README that are made from the code. */
import { writeFileSync } from 'node:fs';
import { InMemoryDisklessCoordinator } from '../../src/coordinator/in-memory-diskless-coordinator.ts';
import { openEngine } from '../../src/engine/engine.ts';
import { startKafkaServer } from '../../src/server/kafka-server.ts';
import { InMemoryObjectStorage } from '../../src/storage/in-memory-object-storage.ts';
import {
  apisSection,
  configsSection,
  exampleSection,
  groupConfigsSection,
  readme,
  withSection,
} from './readme-tables.ts';

/** Asks a host, since the tables of an API may be there before its handler is. */
async function supportedApis() {
  const coordinator = new InMemoryDisklessCoordinator();
  const engine = await openEngine({ objectStorage: new InMemoryObjectStorage(), coordinator }, { workerThreads: 0 });
  const server = await startKafkaServer(engine, { coordinator, listen: { host: '127.0.0.1', port: 0 } });
  const supported = server.supportedApis;
  await server.close();
  await engine.close();
  await coordinator.close();
  return supported;
}

const sections = {
  embed: exampleSection('embed'),
  'test-broker': exampleSection('test-broker'),
  configs: configsSection(),
  'group-configs': groupConfigsSection(),
  'supported-apis': apisSection(await supportedApis()),
};

const text = Object.entries(sections).reduce((before, [name, content]) => withSection(before, name, content), readme());
writeFileSync(new URL('../../README.md', import.meta.url), text);
