/** The embedded protocol "consumer": what members send is read in every version, and anything else does no harm. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAssignment, readSubscription, writeAssignment } from '../../src/group/consumer-protocol.ts';
import { subscriptionBytes } from './support/coordinator-fixture.ts';

const seed = Number(process.env.SHOAL_SEED ?? Date.now() % 2 ** 31);
console.log(`seed ${seed}`);

const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'));

describe('subscriptions', () => {
  it('are read in versions 0 to 3, and in later ones as far as they are known', () => {
    const topics = '0000 0001 0001 61';
    const owned = '0000 0001 0001 61 0000 0002 0000 0003 0000 0005';
    expect(readSubscription(hex(`0000 ${topics} ffff ffff`))).toEqual({
      version: 0,
      topics: ['a'],
      userData: null,
      ownedPartitions: [],
      generationId: -1,
      rackId: null,
    });
    const third = hex(`0003 ${topics} 0000 0001 07 ${owned} 0000 0009 0001 72`);
    expect(readSubscription(third)).toEqual({
      version: 3,
      topics: ['a'],
      userData: new Uint8Array([7]),
      ownedPartitions: [{ topic: 'a', partitions: [3, 5] }],
      generationId: 9,
      rackId: 'r',
    });
    const later = readSubscription(hex(`0009 ${topics} ffff ffff ${owned} 0000 0009 ffff 1234`));
    expect(later).toMatchObject({ version: 3, rackId: null });
  });

  it('are told apart from what is none, whatever it claims', () => {
    for (const text of [
      '',
      '00',
      'ffff',
      '0000 7fff ffff',
      '0000 0000 0001 ffff',
      '0001 0000 0000 ffff ffff 7fff ffff 0001',
    ]) {
      expect(readSubscription(hex(text)), text).toBeUndefined();
    }
  });
});

describe('assignments', () => {
  it('are read as they were written', () => {
    const topicPartitions = fc.record({ topic: fc.string({ maxLength: 20 }), partitions: fc.array(fc.nat()) });
    fc.assert(
      fc.property(fc.array(topicPartitions), fc.integer({ min: 0, max: 3 }), (partitions, version) => {
        expect(readAssignment(writeAssignment(partitions, version))).toEqual({ partitions, userData: null });
      }),
      { seed },
    );
    expect(readAssignment(new Uint8Array(0))).toEqual({ partitions: [], userData: null });
  });
});

it('never throws, and never reads past the end', () => {
  const valid = subscriptionBytes(['orders', 'audit'], [['orders', [0, 1, 2]]]);
  const mutated = fc.tuple(fc.nat(valid.length - 1), fc.nat(255), fc.nat(valid.length)).map(([at, value, length]) => {
    const bytes = valid.slice(0, length);
    if (at < length) bytes[at] = value;
    return bytes;
  });
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 64 }), mutated), (bytes) => {
      readSubscription(bytes);
      readAssignment(bytes);
    }),
    { seed, numRuns: 2_000 },
  );
});
