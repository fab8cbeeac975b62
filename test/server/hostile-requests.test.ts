/**
 * Requests of every API and version with bytes changed, cut off or added, against a real host: it answers with the right
 * correlation id or closes that connection, and never more. Replay a failure with the seed and path that it prints.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Api } from '../../src/protocol/api.ts';
import { apis } from '../../src/protocol/apis.ts';
import { encodeRequest } from '../../src/protocol/frames.ts';
import { metadata } from '../../src/protocol/messages/metadata.ts';
import { message, toWrite } from '../protocol/arbitrary-message.ts';
import { tellsSeed } from '../support/tells-seed.ts';
import { untilCovered } from '../support/until-covered.ts';
import { ServerFixture } from './server-fixture.ts';
import type { WireClient } from './wire-client.ts';

const CORRELATION_ID = 0x5a5a5a5a;
/** Where the body begins, after size, key, version, correlation id and an empty client id. */
const BODY_AT = 14;

/** A whole frame of any API in any of its versions. */
const validFrame: fc.Arbitrary<Buffer> = fc
  .constantFrom(...(Object.values(apis) as unknown as Api[]))
  .chain((api) => fc.tuple(fc.constant(api), fc.integer(api.versions)))
  .chain(([api, version]) => {
    const header = { version, correlationId: CORRELATION_ID, clientId: '' };
    const encode = (value: Record<string, unknown>) => encodeRequest(api, header, toWrite(api.request, value, version));
    return message(api.request, version).map((value) => Buffer.concat(encode(value)));
  });

type Mutation = (frame: Buffer) => Buffer;
const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.constant((frame: Buffer) => frame),
  fc.tuple(fc.nat(), fc.nat(255)).map(
    ([at, to]): Mutation =>
      (frame) => {
        if (frame.length > BODY_AT) frame[BODY_AT + (at % (frame.length - BODY_AT))] = to;
        return frame;
      },
  ),
  fc.nat().map(
    (at): Mutation =>
      (frame) =>
        frame.subarray(0, BODY_AT + (at % (frame.length - BODY_AT + 1))),
  ),
  fc.uint8Array({ minLength: 1, maxLength: 20 }).map(
    (more): Mutation =>
      (frame) =>
        Buffer.concat([frame, more]),
  ),
);

const hostileFrame = fc.tuple(validFrame, fc.array(mutation, { maxLength: 3 })).map(([frame, mutations]) => {
  const mutated = mutations.reduce<Buffer>((bytes, mutate) => mutate(bytes), Buffer.from(frame));
  mutated.writeInt32BE(mutated.length - 4, 0);
  return mutated;
});

/** What came back before another client was served twice: a frame, the end of the connection, or nothing yet. */
async function outcome(hostile: WireClient, other: WireClient): Promise<Buffer | undefined | 'nothing'> {
  const answered = hostile.nextFrame();
  const served = async () => {
    for (let i = 0; i < 2; i++) await other.call(metadata, 9, { topics: [], allowAutoTopicCreation: false });
    return 'nothing' as const;
  };
  return Promise.race([answered, served()]);
}

it('answers hostile requests with their correlation id, or closes their connection, and serves others', async () => {
  const fixture = await ServerFixture.open({ server: { settings: { autoCreateTopicsEnable: false } } });
  const other = await fixture.client();
  const counts = { answered: 0, closed: 0, waiting: 0 };
  const property = fc.asyncProperty(hostileFrame, async (frame) => {
    const hostile = await fixture.client();
    hostile.socket.write(frame);
    const result = await outcome(hostile, other);
    if (result === 'nothing') counts.waiting++;
    else if (result === undefined) counts.closed++;
    else counts.answered++;
    if (Buffer.isBuffer(result)) expect(result.readInt32BE(0)).toBe(CORRELATION_ID);
    hostile.socket.destroy();
  });
  await untilCovered(
    () => counts.answered > 50 && counts.closed > 50,
    () => fc.assert(property, { ...tellsSeed(), numRuns: Number(process.env.SHOAL_FUZZ_RUNS ?? 400) }),
  );
  expect(counts.answered).toBeGreaterThan(50);
  expect(counts.closed).toBeGreaterThan(50);
  expect(fixture.logged.filter((line) => /failed unexpectedly|could not be/.test(line))).toEqual([]);
  while (fixture.server.stats().connections > 1) await new Promise((resolve) => setTimeout(resolve, 2));
  expect(fixture.server.stats().requestBytes).toBe(0);
});
