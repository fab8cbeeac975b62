/** What an engine cleans up by itself, over real parts and with its time moved by hand. */
import { expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { StorageError } from '../../src/storage/object-storage.ts';
import { batchOf, EngineFixture, valuesOf } from '../support/engine-fixture.ts';
import { ManualTime } from '../support/manual-time.ts';

it('deletes objects after their last record and a grace, and what was never committed', async () => {
  const time = new ManualTime();
  let stored = 0;
  const fixture = await EngineFixture.open({
    time,
    storage: (real) => ({
      // The first object lands, but whoever put it is told otherwise, and gives it up.
      put: async (key, body, options) => {
        await real.put(key, body, options);
        if (++stored === 1) throw new StorageError('denied', 'the answer was changed');
      },
    }),
  });
  const topicIdPartition = { topicId: await fixture.createTopic('orders'), partition: 0 };
  const append = (value: string) => time.advanceUntil(fixture.append(topicIdPartition, batchOf(value)));
  expect((await append('given up')).error).toBe(Errors.KAFKA_STORAGE_ERROR);
  await append('old');
  await append('kept');
  expect(await fixture.objectKeys()).toHaveLength(3);

  await fixture.engine.deleteRecords([{ topicIdPartition, beforeOffset: 1n }]);
  await time.advance(60_000);
  expect(await fixture.objectKeys(), 'the grace is not over').toHaveLength(3);
  await time.advance(120_000);
  expect(await fixture.objectKeys()).toHaveLength(1);
  expect(fixture.engine.stats().filesDeleted).toBe(2);
  expect(valuesOf(await fixture.readAll(topicIdPartition, 1n))).toEqual(['kept']);
});
