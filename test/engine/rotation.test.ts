/** When a segment closes: by size, by age, before a request that does not fit; and that a request is never split. */
import { describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import type { CommitFileRequest } from '../../src/coordinator/diskless-coordinator.ts';
import { batchOf, EngineFixture } from '../support/engine-fixture.ts';
import { ManualTime } from '../support/manual-time.ts';
import { buildBatch } from '../support/record-batches.ts';

const KIB = 1024;

async function rotationFixture() {
  const time = new ManualTime();
  const commits: CommitFileRequest[] = [];
  const fixture = await EngineFixture.open({
    time,
    settings: { produceBufferMaxBytes: 64 * KIB, produceCommitIntervalMs: 250 },
    coordinator: (real) => ({
      commitFile: (request) => {
        commits.push(request);
        return real.commitFile(request);
      },
    }),
  });
  const topicId = await fixture.createTopic('orders', 4);
  const append = (partition: number, bytes: number) =>
    fixture.append({ topicId, partition }, batchOf('x'.repeat(bytes)));
  return { time, commits, fixture, topicId, append };
}

describe('a segment closes', () => {
  it('when its first batch has waited for the interval, and not before', async () => {
    const { time, commits, append } = await rotationFixture();
    const first = append(0, 10);
    await time.advance(200);
    const second = append(1, 10);
    await time.advance(49);
    expect(commits).toHaveLength(0);
    await time.advance(1);
    await Promise.all([first, second]);
    expect(commits.map(({ batches }) => batches.length)).toEqual([2]);
    await time.advance(10_000);
    expect(commits, 'nothing came, nothing is committed').toHaveLength(1);
  });

  it('at once when it is full', async () => {
    const { time, commits, append } = await rotationFixture();
    await append(3, 64 * KIB);
    await Promise.all([append(0, 10), append(1, 20), append(2, 70 * KIB)]);
    expect(commits.map(({ batches }) => batches.length).sort()).toEqual([1, 1, 2]);
    expect(time.monotonicMs()).toBe(0);
  });

  it('before a request that does not fit, which is not split though it is larger than a segment', async () => {
    const { time, commits, fixture, topicId, append } = await rotationFixture();
    const small = append(0, 10);
    const large = fixture.engine.append(
      [0, 1, 2, 3].map((partition) => ({
        topicIdPartition: { topicId, partition },
        records: buildBatch(batchOf('x'.repeat(50 * KIB))),
      })),
    );
    await time.advanceUntil(Promise.all([small, large]));
    expect(commits.map(({ segmentSequence, batches }) => [segmentSequence, batches.length]).sort()).toEqual([
      [0, 1],
      [1, 4],
    ]);
    expect((await large).map(({ error, baseOffset }) => [error, baseOffset])).toEqual([
      [Errors.NONE, 1n],
      [Errors.NONE, 0n],
      [Errors.NONE, 0n],
      [Errors.NONE, 0n],
    ]);
  });

  it('on flush, which waits for what was appended before', async () => {
    const { commits, fixture, append } = await rotationFixture();
    const pending = append(0, 10);
    await fixture.engine.flush();
    expect(commits).toHaveLength(1);
    expect((await pending).error).toBe(Errors.NONE);
    await fixture.engine.flush();
    expect(commits).toHaveLength(1);
  });

  it('without a PUT or commit when nothing in it was valid, and the next one goes on', async () => {
    const { time, commits, fixture, topicId, append } = await rotationFixture();
    const unknown = await time.advanceUntil(fixture.append({ topicId, partition: 9 }, batchOf('x')));
    expect(unknown.error).toBe(Errors.UNKNOWN_TOPIC_OR_PARTITION);
    await time.advance(250);
    expect(commits).toHaveLength(0);
    expect(await fixture.objectKeys()).toEqual([]);
    expect((await time.advanceUntil(append(0, 10))).baseOffset).toBe(0n);
  });
});
