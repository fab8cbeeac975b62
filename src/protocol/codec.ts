/**
 * Compiles a message table for one version into a reader and a writer made of closures: what a version has, which of its
 * forms are compact, and which fields are tagged is decided once, not per message.
 */
import { ApiError } from '../common/errors.ts';
import { MalformedError } from './malformed-error.ts';
import type { Reader } from './reader.ts';
import type { Field, Fields, FieldType, Primitive, ReadOf, WriteOf } from './schema.ts';
import { inRange } from './version-range.ts';
import { Writer } from './writer.ts';

export interface Codec<R, W> {
  /** @throws MalformedError */
  read(reader: Reader): R;
  /** @throws ApiError UNSUPPORTED_VERSION when a value is set that this version cannot carry and must not drop. */
  write(writer: Writer, value: W): void;
  /** The least it takes on the wire, bytes. */
  readonly minBytes: number;
}

type AnyCodec = Codec<unknown, unknown>;
type Struct = Record<string, unknown>;

interface CompiledField {
  readonly name: string;
  readonly field: Field;
  readonly codec: AnyCodec;
}

/** `flexible`: the version uses KIP-482's compact forms and tagged fields. `name` is for error messages. */
export function compileCodec<F extends Fields>(
  name: string,
  fields: F,
  version: number,
  flexible: boolean,
): Codec<ReadOf<F>, WriteOf<F>> {
  return compileStruct(name, fields, version, flexible) as Codec<ReadOf<F>, WriteOf<F>>;
}

function compileStruct(path: string, fields: Fields, version: number, flexible: boolean): AnyCodec {
  const entries = Object.entries(fields);
  const absent = entries.filter(([, field]) => !inRange(field.versions, version));
  const compiled = entries
    .filter(([, field]) => inRange(field.versions, version))
    .map(([name, field]) => ({ name, field, codec: compileField(`${path}.${name}`, field, version, flexible) }));
  const plain = compiled.filter(({ field }) => field.tag === undefined);
  const tagged = compiled.filter(({ field }) => field.tag !== undefined);
  tagged.sort((a, b) => a.field.tag! - b.field.tag!);
  const defaults = Object.fromEntries(entries.map(([name, field]) => [name, field.default]));
  const readTags = flexible ? tagReader(tagged) : undefined;
  return {
    minBytes: plain.reduce((sum, { codec }) => sum + codec.minBytes, flexible ? 1 : 0),
    read(reader) {
      const value: Struct = { ...defaults };
      for (const { name, codec } of plain) value[name] = codec.read(reader);
      readTags?.(reader, value);
      return value;
    },
    write(writer, value) {
      const from = value as Struct;
      for (const [name, field] of absent) refuseLoss(path, name, field, from[name], version);
      for (const { name, field, codec } of plain) {
        codec.write(writer, from[name] === undefined ? field.default : from[name]);
      }
      if (flexible) writeTags(writer, tagged, from);
    },
  };
}

function refuseLoss(path: string, name: string, field: Field, value: unknown, version: number): void {
  if (field.ignorable || value === undefined || value === null || value === field.default) return;
  if (Array.isArray(value) && value.length === 0) return;
  throw new ApiError('UNSUPPORTED_VERSION', `${path}.${name} was set, but version ${version} cannot carry it`);
}

function tagReader(tagged: readonly CompiledField[]): (reader: Reader, value: Struct) => void {
  if (tagged.length === 0) return (reader) => reader.readTaggedFields();
  const byTag = new Map(tagged.map((entry) => [entry.field.tag, entry]));
  return (reader, value) =>
    reader.readTaggedFields((tag) => {
      const known = byTag.get(tag);
      if (known) value[known.name] = known.codec.read(reader);
    });
}

/** Tagged fields that differ from their default; they are few and small, so each is written aside to learn its size. */
function writeTags(writer: Writer, tagged: readonly CompiledField[], from: Struct): void {
  const set = tagged.filter(({ name, field }) => from[name] !== undefined && from[name] !== field.default);
  writer.writeUnsignedVarint(set.length);
  for (const { name, field, codec } of set) {
    const aside = new Writer();
    codec.write(aside, from[name]);
    writer.writeUnsignedVarint(field.tag!);
    writer.writeUnsignedVarint(aside.size);
    for (const chunk of aside.finish()) writer.writeRaw(chunk);
  }
}

function compileField(path: string, field: Field, version: number, flexible: boolean): AnyCodec {
  const nullable = field.nullable !== undefined && inRange(field.nullable, version);
  return compileType(path, field.type, version, flexible, nullable);
}

function compileType(path: string, type: FieldType, version: number, flexible: boolean, nullable: boolean): AnyCodec {
  if (type.kind === 'array') {
    return compileArray(path, compileType(path, type.element, version, flexible, false), flexible, nullable);
  }
  if (type.kind === 'struct') {
    const codec = compileStruct(path, type.fields, version, flexible);
    return nullable ? nullableStruct(codec) : codec;
  }
  return PRIMITIVES[type.kind](path, flexible, nullable);
}

function compileArray(path: string, element: AnyCodec, flexible: boolean, nullable: boolean): AnyCodec {
  const minElementBytes = Math.max(1, element.minBytes);
  return {
    minBytes: flexible ? 1 : 4,
    read(reader) {
      const count = reader.readArrayCount(flexible, minElementBytes);
      if (count === -1) return nullable ? null : refuseNull(path);
      const values: unknown[] = new Array(count);
      for (let i = 0; i < count; i++) values[i] = element.read(reader);
      return values;
    },
    write(writer, value) {
      const values = value as readonly unknown[] | null;
      if (values === null) {
        writer.writeArrayCount(nullable ? -1 : refuseNull(path), flexible);
        return;
      }
      writer.writeArrayCount(values.length, flexible);
      for (const one of values) element.write(writer, one);
    },
  };
}

/** KIP-893: an int8 of −1 for null, 1 before a structure. */
function nullableStruct(codec: AnyCodec): AnyCodec {
  return {
    minBytes: 1,
    read: (reader) => (reader.readInt8() < 0 ? null : codec.read(reader)),
    write(writer, value) {
      writer.writeInt8(value === null ? -1 : 1);
      if (value !== null) codec.write(writer, value);
    },
  };
}

function refuseNull(path: string): never {
  throw new MalformedError(`${path} is null, which this version does not allow`);
}

type PrimitiveCodec = (path: string, flexible: boolean, nullable: boolean) => AnyCodec;

/** A type of one width in all versions. */
function fixed<T>(minBytes: number, read: (r: Reader) => T, write: (w: Writer, value: T) => void): PrimitiveCodec {
  const codec = { minBytes, read, write: write as AnyCodec['write'] };
  return () => codec;
}

/** A type with a length, compact in flexible versions. */
function sized<R, W>(
  classicBytes: number,
  read: (reader: Reader, flexible: boolean) => R | null,
  write: (writer: Writer, value: W | null, flexible: boolean) => void,
): PrimitiveCodec {
  return (path, flexible, nullable) => ({
    minBytes: flexible ? 1 : classicBytes,
    read: (reader) => read(reader, flexible) ?? (nullable ? null : refuseNull(path)),
    write: (writer, value) => write(writer, (value as W | null) ?? (nullable ? null : refuseNull(path)), flexible),
  });
}

const PRIMITIVES: Readonly<Record<Primitive, PrimitiveCodec>> = {
  bool: fixed<boolean>(
    1,
    (r) => r.readBool(),
    (w, value) => w.writeBool(value),
  ),
  int8: fixed<number>(
    1,
    (r) => r.readInt8(),
    (w, value) => w.writeInt8(value),
  ),
  int16: fixed<number>(
    2,
    (r) => r.readInt16(),
    (w, value) => w.writeInt16(value),
  ),
  int32: fixed<number>(
    4,
    (r) => r.readInt32(),
    (w, value) => w.writeInt32(value),
  ),
  int64: fixed<bigint>(
    8,
    (r) => r.readInt64(),
    (w, value) => w.writeInt64(value),
  ),
  uuid: fixed<string>(
    16,
    (r) => r.readUuid(),
    (w, value) => w.writeUuid(value),
  ),
  string: sized<string, string>(
    2,
    (r, flexible) => r.readString(flexible),
    (w, value, flexible) => w.writeString(value, flexible),
  ),
  bytes: sized<Uint8Array, Uint8Array>(
    4,
    (r, flexible) => r.readBytes(flexible),
    (w, value, flexible) => w.writeBytes(value, flexible),
  ),
  records: sized<Uint8Array, readonly Uint8Array[]>(
    4,
    (r, flexible) => r.readBytes(flexible),
    (w, value, flexible) => w.writeRecords(value, flexible),
  ),
};
