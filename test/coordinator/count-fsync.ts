/** Run under strace by sqlite-file.test.ts: commits one at a time, then many at once, with a synced marker around each. */
import { fsyncSync, openSync } from 'node:fs';
import { openSqliteCoordinator } from '../../src/sqlite.ts';
import { batch, file, topic } from './fixture.ts';

const path = process.argv[2]!;
const marker = openSync(`${path}.marker`, 'w');
const coordinator = await openSqliteCoordinator({ path });
const [a] = await topic(coordinator);
fsyncSync(marker);
for (let i = 0; i < 50; i += 1) await coordinator.commitFile(file([batch(a!, 1)]));
fsyncSync(marker);
for (let round = 0; round < 10; round += 1) {
  await Promise.all(Array.from({ length: 64 }, () => coordinator.commitFile(file([batch(a!, 1)]))));
}
fsyncSync(marker);
await coordinator.close();
