/**
 * Run by kill-9.test.ts as a process of its own: commits numbered files, each of them known to both sides, and writes a
 * line to standard output for each answer it got. Ends only by being killed.
 */
import { writeSync } from 'node:fs';
import type { CommitFileRequest } from '../../src/coordinator/diskless-coordinator.ts';
import { openSqliteCoordinator } from '../../src/sqlite.ts';
import { batch, by, file } from './fixture.ts';

export const TOPIC = {
  topicId: 'S2lsbEluVGhlTWlkZGxlAA',
  name: 'kill',
  partitions: 2,
  configs: { 'retention.ms': '-1' },
};

/** File `index`: a batch of each of two producers for each partition, in sequence with the files before it. */
export function numberedFile(index: number): CommitFileRequest {
  const batches = [0, 1].flatMap((partition) =>
    [1n, 2n].map((producerId) => batch({ topicId: TOPIC.topicId, partition }, 2, by(producerId, 0, 2 * index))),
  );
  return file(batches, { objectKey: `killed/${index}`, segmentSequence: index });
}

async function commitForEver(path: string, from: number): Promise<void> {
  const coordinator = await openSqliteCoordinator({ path });
  await coordinator.createTopics([TOPIC]);
  writeSync(1, 'open\n');
  for (let index = from; ; index += 1) {
    const block = await coordinator.allocateProducerIdBlock(10);
    const { batches } = await coordinator.commitFile(numberedFile(index));
    const offsets = batches.map(({ error, baseOffset, duplicate }) => [error, `${baseOffset}`, duplicate]);
    writeSync(1, `${JSON.stringify({ index, offsets, block: `${block.firstProducerId}` })}\n`);
  }
}

const [path, from] = process.argv.slice(2);
if (path !== undefined && from !== undefined) await commitForEver(path, Number(from));
