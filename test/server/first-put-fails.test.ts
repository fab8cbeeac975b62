/** The worst beginning for an idempotent producer: five requests in flight and the first of them fails for good. */
import { expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { deferred } from '../../src/common/lifecycle.ts';
import { decodeResponse } from '../../src/protocol/frames.ts';
import { initProducerId } from '../../src/protocol/messages/init-producer-id.ts';
import { produce } from '../../src/protocol/messages/produce.ts';
import { StorageError } from '../../src/storage/object-storage.ts';
import { idempotent, valuesOf } from '../support/engine-fixture.ts';
import { buildBatch } from '../support/record-batches.ts';
import { ServerFixture } from './server-fixture.ts';

const IN_FLIGHT = 5;

it('fails all five of a fresh producer when the first PUT fails for good, and takes them again in order', async () => {
  const allStored = deferred<void>();
  let puts = 0;
  const fixture = await ServerFixture.open({
    // A segment a request, so that the other four are stored and wait behind the one that fails.
    settings: { produceCommitIntervalMs: 0, produceBufferMaxBytes: 100 },
    storage: (real) => ({
      put: async (key, body, options) => {
        puts += 1;
        if (puts === IN_FLIGHT) allStored.resolve();
        if (puts !== 1) return real.put(key, body, options);
        await allStored.promise;
        throw new StorageError('denied', 'no longer allowed');
      },
    }),
  });
  const topicId = await fixture.parts.createTopic('t', 1);
  const client = await fixture.client();
  const { producerId } = await client.call(initProducerId, 4, { transactionalId: null, transactionTimeoutMs: 1 });
  const sendAll = async () => {
    for (let sequence = 0; sequence < IN_FLIGHT; sequence += 1) {
      const records = [buildBatch(idempotent(producerId, sequence, `value ${sequence}`))];
      const topicData = [{ name: 't', partitionData: [{ index: 0, records }] }];
      client.send(produce, 9, { acks: -1, timeoutMs: 30_000, topicData });
    }
    const answers = [];
    for (let i = 0; i < IN_FLIGHT; i += 1) {
      const { body } = decodeResponse(produce, 9, (await client.nextFrame())!);
      answers.push(body.responses[0]!.partitionResponses[0]!);
    }
    return answers;
  };

  expect((await sendAll()).map(({ errorCode }) => errorCode)).toEqual(
    Array(IN_FLIGHT).fill(Errors.KAFKA_STORAGE_ERROR),
  );
  expect(puts).toBe(IN_FLIGHT);
  const again = await sendAll();
  expect(again.map(({ errorCode, baseOffset }) => [errorCode, baseOffset])).toEqual(
    Array.from({ length: IN_FLIGHT }, (_, i) => [Errors.NONE, BigInt(i)]),
  );
  const values = valuesOf(await fixture.parts.readAll({ topicId, partition: 0 }));
  expect(values).toEqual(Array.from({ length: IN_FLIGHT }, (_, i) => `value ${i}`));
});
