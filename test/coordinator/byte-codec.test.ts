/** The compact integers of stored blobs: everything comes back, damage is noticed. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ByteReader, ByteWriter } from '../../src/coordinator/byte-codec.ts';
import { decodeProducers, decodeResults, encodeProducers, encodeResults } from '../../src/coordinator/sqlite/blobs.ts';

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

it('gives back every 64-bit integer and every int32, written one after the other', () => {
  const edges = [0n, -1n, 63n, 64n, -65n, 2n ** 50n, 2n ** 51n, 2n ** 52n, -(2n ** 51n), 2n ** 63n - 1n, -(2n ** 63n)];
  const values = fc.array(fc.oneof(int64, fc.constantFrom(...edges)), { maxLength: 200 });
  fc.assert(
    fc.property(values, fc.array(fc.integer()), (bigints, numbers) => {
      const writer = new ByteWriter();
      for (const value of bigints) writer.bigint(value);
      for (const value of numbers) writer.number(value);
      const reader = new ByteReader(writer.finish());
      expect(bigints.map(() => reader.bigint())).toEqual(bigints);
      expect(numbers.map(() => reader.number())).toEqual(numbers);
      expect(reader.atEnd).toBe(true);
      expect(() => reader.number()).toThrow(RangeError);
    }),
  );
});

it('gives back commit results and producers', () => {
  const result = fc.record({
    error: fc.integer({ min: -1, max: 133 }),
    baseOffset: int64,
    logAppendTimeMs: int64,
    logStartOffset: int64,
    duplicate: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(result), (results) => {
      expect(decodeResults(encodeResults(results))).toEqual(results);
    }),
  );
  const offset = fc.bigInt({ min: 0n, max: 2n ** 62n });
  const sequence = fc.nat(2_147_483_647);
  const batch = fc.record({
    firstSequence: sequence,
    lastSequence: sequence,
    firstOffset: offset,
    timestamp: fc.bigInt({ min: -1n, max: 2n ** 61n }),
    timestampType: fc.constantFrom(0 as const, 1 as const),
  });
  const state = fc.record({
    producerEpoch: fc.nat(32_767),
    lastAppendTimeMs: fc.bigInt({ min: 0n, max: 2n ** 45n }),
    batches: fc.array(batch, { minLength: 1, maxLength: 5 }),
  });
  const producers = fc.uniqueArray(fc.tuple(offset, state), { selector: ([id]) => id });
  fc.assert(
    fc.property(producers, (entries) => {
      expect(decodeProducers(encodeProducers(new Map(entries)))).toEqual(new Map(entries));
    }),
  );
});
