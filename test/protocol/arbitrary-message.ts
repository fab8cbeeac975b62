/** fast-check values for any message table: what a version can carry, so that writing and reading must give it back. */
import fc from 'fast-check';
import type { Field, Fields, FieldType } from '../../src/protocol/schema.ts';
import { inRange } from '../../src/protocol/version-range.ts';

const text = fc.oneof(fc.string({ maxLength: 12 }), fc.string({ unit: 'binary', maxLength: 6 }));
/** Byte fields come back as views, so they are made as Buffers, which compare by content. */
const byteField = fc.uint8Array({ maxLength: 40 }).map((value) => Buffer.from(value));

function ofType(type: FieldType, version: number): fc.Arbitrary<unknown> {
  switch (type.kind) {
    case 'bool':
      return fc.boolean();
    case 'int8':
      return fc.integer({ min: -128, max: 127 });
    case 'int16':
      return fc.integer({ min: -32768, max: 32767 });
    case 'int32':
      return fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
    case 'int64':
      return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    case 'string':
      return text;
    case 'bytes':
    case 'records':
      return byteField;
    case 'uuid':
      return fc.uint8Array({ minLength: 16, maxLength: 16 }).map((value) => Buffer.from(value).toString('base64url'));
    case 'array':
      return fc.array(ofType(type.element, version), { maxLength: 3 });
    case 'struct':
      return message(type.fields, version);
  }
}

function ofField(field: Field, version: number): fc.Arbitrary<unknown> {
  if (!inRange(field.versions, version)) return fc.constant(field.default);
  const value = ofType(field.type, version);
  const nullable = field.nullable !== undefined && inRange(field.nullable, version);
  return nullable ? fc.option(value, { nil: null, freq: 4 }) : value;
}

/** A message as reading gives it: fields that the version lacks have their defaults. */
export function message(fields: Fields, version: number): fc.Arbitrary<Record<string, unknown>> {
  return fc.record(Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, ofField(field, version)])), {
    noNullPrototype: true,
  });
}

/** The same message as writing takes it: without what the version lacks, and records as runs, here of three pieces. */
export function toWrite(fields: Fields, value: Record<string, unknown>, version: number): Record<string, unknown> {
  const present = Object.entries(fields).filter(([, { versions }]) => inRange(versions, version));
  return Object.fromEntries(present.map(([name, { type }]) => [name, writable(type, value[name], version)]));
}

function writable(type: FieldType, value: unknown, version: number): unknown {
  if (value === null) return null;
  if (type.kind === 'records') return inPieces(value as Buffer);
  if (type.kind === 'struct') return toWrite(type.fields, value as Record<string, unknown>, version);
  if (type.kind === 'array') return (value as unknown[]).map((one) => writable(type.element, one, version));
  return value;
}

function inPieces(value: Buffer): Buffer[] {
  const third = Math.ceil(value.length / 3);
  return [value.subarray(0, third), value.subarray(third, 2 * third), value.subarray(2 * third)];
}
