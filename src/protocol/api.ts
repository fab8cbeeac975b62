/**
 * One Kafka API: its key, name, versions and the tables of its request and response. The tables live in
 * src/protocol/messages/, one file per API; adding an API is adding such a file and a line in apis.ts.
 */
import { assert } from '../common/assert.ts';
import { type Codec, compileCodec } from './codec.ts';
import type { Fields, ReadOf, WriteOf } from './schema.ts';
import { type VersionRange, type VersionText, versionRange } from './version-range.ts';

export interface Api<Req extends Fields = Fields, Res extends Fields = Fields> {
  readonly key: number;
  readonly name: string;
  /** Versions that are understood. */
  readonly versions: VersionRange;
  /** The lowest version that ApiVersions names; lower than `versions.min` where clients would otherwise misbehave. */
  readonly advertisedMin: number;
  /** Whether ApiVersions names it: not for an API that is none of Kafka's. */
  readonly isAdvertised: boolean;
  readonly request: Req;
  readonly response: Res;
  /** Whether a version uses compact forms and tagged fields (KIP-482), headers included. */
  isFlexible(version: number): boolean;
  /** 0 or 1. */
  responseHeaderVersion(version: number): number;
  requestCodec(version: number): Codec<ReadOf<Req>, WriteOf<Req>>;
  responseCodec(version: number): Codec<ReadOf<Res>, WriteOf<Res>>;
}

/** What a handler gets, and what it answers. */
export type RequestOf<A> = A extends Api<infer Req, infer _Res> ? ReadOf<Req> : never;
export type ResponseOf<A> = A extends Api<infer _Req, infer Res> ? WriteOf<Res> : never;

/** What a client sends, and what it gets. */
export type RequestToSend<A> = A extends Api<infer Req, infer _Res> ? WriteOf<Req> : never;
export type ResponseRead<A> = A extends Api<infer _Req, infer Res> ? ReadOf<Res> : never;

export interface ApiDefinition<Req extends Fields, Res extends Fields> {
  readonly key: number;
  readonly name: string;
  readonly versions: VersionText;
  readonly advertisedMin?: number;
  /** @default true */
  readonly isAdvertised?: false;
  /** The first flexible version. */
  readonly flexibleFrom: number;
  /** Where it differs from "1 when flexible". */
  readonly responseHeaderVersion?: 0;
  readonly request: Req;
  readonly response: Res;
}

/** @throws AssertionError unless the versions are bounded. */
export function defineApi<Req extends Fields, Res extends Fields>(definition: ApiDefinition<Req, Res>): Api<Req, Res> {
  const versions = versionRange(definition.versions);
  assert(versions.max < 100, `the versions of ${definition.name} have an upper bound`);
  const isFlexible = (version: number): boolean => version >= definition.flexibleFrom;
  const perVersion = <F extends Fields>(fields: F, suffix: string) =>
    memoized((version) => compileCodec(definition.name + suffix, fields, version, isFlexible(version)));
  return {
    key: definition.key,
    name: definition.name,
    versions,
    advertisedMin: definition.advertisedMin ?? versions.min,
    isAdvertised: definition.isAdvertised ?? true,
    request: definition.request,
    response: definition.response,
    isFlexible,
    responseHeaderVersion: (version) => definition.responseHeaderVersion ?? (isFlexible(version) ? 1 : 0),
    requestCodec: perVersion(definition.request, 'Request'),
    responseCodec: perVersion(definition.response, 'Response'),
  };
}

/** Codecs are compiled when a version is first used; a version is a small integer. */
function memoized<T>(compile: (version: number) => T): (version: number) => T {
  const compiled: T[] = [];
  return (version) => {
    compiled[version] ??= compile(version);
    return compiled[version]!;
  };
}
