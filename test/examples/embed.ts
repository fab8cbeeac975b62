/** Embedding Shoal: an engine over a folder and a SQLite file. A broker passes on what producers send it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LocalDirectoryObjectStorage, openEngine } from 'shoal';
import { openSqliteCoordinator } from 'shoal/sqlite';

// One record batch as a producer sends it: a single record with the value "hello".
const batch = Buffer.from(
  'AAAAAAAAAAAAAAA9/////wLmQaRLAAAAAAAAAAABi8/laAAAAAGLz+VoAP//////////////////AAAAARYAAAABCmhlbGxvAA==',
  'base64',
);

const folder = mkdtempSync(join(tmpdir(), 'shoal-embed-'));
const objectStorage = await LocalDirectoryObjectStorage.open(join(folder, 'objects'));
const coordinator = await openSqliteCoordinator({ path: join(folder, 'coordinator.db') });
const engine = await openEngine({ objectStorage, coordinator });

const [topic] = await engine.createTopics([{ name: 'greetings', partitions: 1 }]);
const topicIdPartition = { topicId: topic!.topicId, partition: 0 };
const [appended] = await engine.append([{ topicIdPartition, records: batch }]);
console.log('appended at offset', appended!.baseOffset);

const fetched = await engine.fetch(
  { minBytes: 1, maxWaitMs: 500, maxBytes: 1024 * 1024, isolation: 'read_uncommitted' },
  [{ topicIdPartition, fetchOffset: 0n, maxBytes: 1024 * 1024 }],
);
for (const records of fetched.partitions[0]!.records)
  console.log('fetched', Buffer.from(records).toString('latin1', 67, 72));
fetched.release();

await engine.close();
await coordinator.close();
await objectStorage.close();
rmSync(folder, { recursive: true });
