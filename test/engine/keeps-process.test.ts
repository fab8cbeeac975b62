/** A program that only awaits an open engine lives until it closes it, and no longer; run as a process of its own. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

const program = `
import { InMemoryDisklessCoordinator, InMemoryObjectStorage, openEngine, systemRandom, systemTime } from './dist/index.js';
const objectStorage = new InMemoryObjectStorage({ time: systemTime });
const coordinator = new InMemoryDisklessCoordinator({ time: systemTime, random: systemRandom });
const engine = await openEngine({ objectStorage, coordinator }, { workerThreads: 0 });
const [topic] = await engine.createTopics([{ name: 't', partitions: 1 }]);
const records = Buffer.from('AAAAAAAAAAAAAAA9/////wLmQaRLAAAAAAAAAAABi8/laAAAAAGLz+VoAP//////////////////AAAAARYAAAABCmhlbGxvAA==', 'base64');
const [result] = await engine.append([{ topicIdPartition: { topicId: topic.topicId, partition: 0 }, records }]);
console.log('offset', result.baseOffset);
await engine.close();
`;

it('keeps the process alive while it is open', () => {
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', program], { cwd: root, encoding: 'utf8' });
  expect(run.stderr).toBe('');
  expect(run.stdout).toBe('offset 0n\n');
  expect(run.status).toBe(0);
});
