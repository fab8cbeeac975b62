/**
 * The language in which messages are written down (src/protocol/messages/): a field is its type, the versions that have
 * it, and what Kafka's schema says besides. Types of what is read and written follow from the table itself.
 *
 * Names and version ranges are those of Kafka's message definitions. Inside an array or struct, `0+` means "whenever the
 * structure around it is there".
 */
import { type Uuid, ZERO_UUID } from '../common/uuid.ts';
import { type VersionRange, type VersionText, versionRange } from './version-range.ts';

export type Primitive = 'bool' | 'int8' | 'int16' | 'int32' | 'int64' | 'string' | 'bytes' | 'records' | 'uuid';

export type FieldType =
  | { readonly kind: Primitive }
  | { readonly kind: 'struct'; readonly fields: Fields }
  | { readonly kind: 'array'; readonly element: FieldType };

/** R is what reading gives, W what writing takes, O whether writing may leave it out. */
export interface Field<R = unknown, W = unknown, O extends boolean = boolean> {
  readonly type: FieldType;
  readonly versions: VersionRange;
  /** Versions in which it may be null. */
  readonly nullable: VersionRange | undefined;
  /** Set for a tagged field (KIP-482): its number, the same in all its versions. */
  readonly tag: number | undefined;
  /** Whether a version that lacks the field may silently drop a value that was set. */
  readonly ignorable: boolean;
  /** What a version without the field reads, and what leaving it out writes. */
  readonly default: R;
  /** For types only; never there. */
  readonly types?: readonly [write: W, optional: O];
}

export type Fields = Readonly<Record<string, Field>>;

export interface FieldOptions {
  readonly nullable?: VersionText;
  readonly tag?: number;
  readonly ignorable?: true;
  readonly default?: unknown;
}

/** Only a field that every version has and that has no default must be given. */
type IsOptional<V, O> = V extends '0+' ? (O extends { default: unknown } | { tag: number } ? true : false) : true;
type OrNull<T, O> = O extends { nullable: string } ? T | null : T;
type FieldOf<R, W, V, O> = Field<OrNull<R, O>, OrNull<W, O>, IsOptional<V, O>>;

export type ReadOf<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends Field<infer R, infer _W, infer _O> ? R : never;
};

type WriteType<F> = F extends Field<infer _R, infer W, infer _O> ? W : never;
type OptionalKeys<F extends Fields> = {
  [K in keyof F]: F[K] extends Field<infer _R, infer _W, infer O> ? (O extends true ? K : never) : never;
}[keyof F];

export type WriteOf<F extends Fields> = {
  readonly [K in Exclude<keyof F, OptionalKeys<F>>]: WriteType<F[K]>;
} & { readonly [K in OptionalKeys<F>]?: WriteType<F[K]> };

function field<R, W, V extends VersionText, O extends FieldOptions>(
  type: FieldType,
  versions: V,
  zero: R,
  options: O | undefined,
): FieldOf<R, W, V, O> {
  return {
    type,
    versions: versionRange(versions),
    nullable: options?.nullable === undefined ? undefined : versionRange(options.nullable),
    tag: options?.tag,
    ignorable: options?.ignorable ?? false,
    default: (options && 'default' in options ? options.default : zero) as OrNull<R, O>,
  };
}

function primitive<R, W = R>(kind: Primitive, zero: R) {
  return <V extends VersionText, const O extends FieldOptions = Record<never, never>>(versions: V, options?: O) =>
    field<R, W, V, O>({ kind }, versions, zero, options);
}

const NO_BYTES = new Uint8Array(0);
const EMPTY: readonly never[] = Object.freeze([]);

export const bool = primitive<boolean>('bool', false);
export const int8 = primitive<number>('int8', 0);
export const int16 = primitive<number>('int16', 0);
export const int32 = primitive<number>('int32', 0);
export const int64 = primitive<bigint>('int64', 0n);
export const string = primitive<string>('string', '');
/** Read as a view of the frame. */
export const bytes = primitive<Uint8Array>('bytes', NO_BYTES);
export const uuid = primitive<Uuid>('uuid', ZERO_UUID);
/** Record batches: read as a view of the frame, written as runs that are not copied. */
export const records = primitive<Uint8Array, readonly Uint8Array[]>('records', NO_BYTES);

/** An array of structures. */
export function array<F extends Fields, V extends VersionText, const O extends FieldOptions = Record<never, never>>(
  versions: V,
  fields: F,
  options?: O,
): FieldOf<readonly ReadOf<F>[], readonly WriteOf<F>[], V, O> {
  return field({ kind: 'array', element: { kind: 'struct', fields } }, versions, EMPTY, options);
}

/** An array of one primitive: `arrayOf(int32, '0+')`. */
export function arrayOf<R, W, V extends VersionText, const O extends FieldOptions = Record<never, never>>(
  element: (versions: '0+') => Field<R, W>,
  versions: V,
  options?: O,
): FieldOf<readonly R[], readonly W[], V, O> {
  return field({ kind: 'array', element: element('0+').type }, versions, EMPTY, options);
}

/** A structure inside another. One without a default of its own is made of its fields' defaults. */
export function struct<F extends Fields, V extends VersionText, const O extends FieldOptions = Record<never, never>>(
  versions: V,
  fields: F,
  options?: O,
): FieldOf<ReadOf<F>, WriteOf<F>, V, O> {
  const zero = Object.fromEntries(Object.entries(fields).map(([name, { default: value }]) => [name, value]));
  return field({ kind: 'struct', fields }, versions, Object.freeze(zero) as ReadOf<F>, options);
}
