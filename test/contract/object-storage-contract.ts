/**
 * What every object storage does, whatever lies behind it. One suite, run over memory, a local directory and S3; a test
 * file calls `objectStorageContract` with a way to open a storage that begins empty.
 */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/common/random.ts';
import type { ObjectStorage, ObjectSummary, StorageErrorKind } from '../../src/storage/object-storage.ts';
import { StorageError } from '../../src/storage/object-storage.ts';
import { tellsSeed } from '../support/tells-seed.ts';

export interface ContractSubject {
  /** Opens a storage that holds no objects. */
  open(): Promise<ObjectStorage>;
  /** Objects that the paging tests create; above a page of the storage where it has pages. */
  readonly manyObjects: number;
  /** Bytes of the largest object. */
  readonly largeBytes: number;
  /** Rounds of the property test. */
  readonly propertyRuns: number;
  /** How far the storage's clock may be from ours. */
  readonly clockToleranceMs: number;
  /** For stores that list folder by folder: `a/b` before `a-b`. @default false */
  readonly listsByFolder?: boolean;
}

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

async function kindOf(failing: Promise<unknown>): Promise<StorageErrorKind> {
  const error = await failing.then(
    () => expect.unreachable('the operation should have failed'),
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(StorageError);
  return (error as StorageError).kind;
}

async function collect(listing: AsyncIterable<ObjectSummary>): Promise<ObjectSummary[]> {
  const found: ObjectSummary[] = [];
  for await (const summary of listing) found.push(summary);
  return found;
}

async function keysOf(listing: AsyncIterable<ObjectSummary>): Promise<string[]> {
  return (await collect(listing)).map((summary) => summary.key);
}

/** The whole object, read as one range of the size that `head` tells; empty objects have none to read. */
async function readAll(storage: ObjectStorage, key: string): Promise<Uint8Array> {
  const size = (await storage.head(key))?.sizeBytes;
  if (size === undefined) expect.unreachable(`object ${key} should exist`);
  return size === 0 ? new Uint8Array() : storage.getRange(key, { position: 0, size });
}

function sharedCopy(bytes: Uint8Array): Uint8Array {
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.byteLength));
  shared.set(bytes);
  return shared;
}

async function inParallel<T>(items: readonly T[], concurrency: number, run: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await run(item);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

export function objectStorageContract(name: string, subject: ContractSubject): void {
  describe(`object storage contract: ${name}`, () => {
    let storage: ObjectStorage;
    beforeEach(async () => {
      storage = await subject.open();
    });
    afterEach(() => storage.close());

    it('describes itself in one line', () => {
      expect(storage.description).toMatch(/^[^\n]+$/);
    });

    describe('put and getRange', () => {
      it('gives back the bytes of all chunks, whole and in part', async () => {
        await storage.put('k', [text('abc'), text(''), text('defg'), text('h')]);
        expect(await readAll(storage, 'k')).toEqual(text('abcdefgh'));
        expect(await storage.getRange('k', { position: 0, size: 1 })).toEqual(text('a'));
        expect(await storage.getRange('k', { position: 2, size: 3 })).toEqual(text('cde'));
        expect(await storage.getRange('k', { position: 7, size: 1 })).toEqual(text('h'));
      });

      it('reads a body from shared memory and writes into shared memory, touching only the view', async () => {
        const around = sharedCopy(text('..abcdef..'));
        await storage.put('shared', [around.subarray(2, 8)]);
        expect(around).toEqual(text('..abcdef..'));
        const target = sharedCopy(text('----------'));
        const into = target.subarray(3, 7);
        expect(await storage.getRange('shared', { position: 1, size: 4 }, { into })).toBe(into);
        expect(target).toEqual(text('---bcde---'));
      });

      it('keeps no reference to the body', async () => {
        const body = text('before');
        await storage.put('k', [body]);
        body.set(text('after!'));
        expect(await readAll(storage, 'k')).toEqual(text('before'));
      });

      it('stores empty objects', async () => {
        await storage.put('empty', []);
        expect(await storage.head('empty')).toMatchObject({ key: 'empty', sizeBytes: 0 });
        expect(await kindOf(storage.getRange('empty', { position: 0, size: 1 }))).toBe('range-not-satisfiable');
      });

      it('accepts a checksum of the body', async () => {
        await storage.put('sum', [text('12345'), text('6789')], { crc32c: 0xe3069283 });
        expect(await readAll(storage, 'sum')).toEqual(text('123456789'));
      });

      it(`stores ${subject.largeBytes} bytes in unequal chunks`, async () => {
        const bytes = sharedCopy(
          new Uint8Array(subject.largeBytes).map((_, index) => (index * 31 + (index >> 11)) & 255),
        );
        const cuts = [0, 1, 65_537, Math.floor(subject.largeBytes / 3), subject.largeBytes - 5, subject.largeBytes];
        const chunks = cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end));
        await storage.put('large', chunks);
        expect(Buffer.compare(await readAll(storage, 'large'), bytes)).toBe(0);
        const middle = { position: cuts[3]! - 10, size: 20 };
        expect(await storage.getRange('large', middle)).toEqual(
          new Uint8Array(bytes.slice(cuts[3]! - 10, cuts[3]! + 10)),
        );
      });

      it('stores an object of thousands of chunks, some of them empty', async () => {
        const chunks = Array.from({ length: 2_500 }, (_, i) => new Uint8Array(i % 5).fill(i & 255));
        await storage.put('chunks', chunks);
        expect(Buffer.compare(await readAll(storage, 'chunks'), Buffer.concat(chunks))).toBe(0);
      });

      it('refuses to replace an object, unless told to', async () => {
        await storage.put('k', [text('first')]);
        expect(await kindOf(storage.put('k', [text('second')]))).toBe('already-exists');
        expect(await kindOf(storage.put('k', [text('first')]))).toBe('already-exists');
        expect(await readAll(storage, 'k')).toEqual(text('first'));
        await storage.put('k', [text('third one')], { ifNoneMatch: false });
        expect(await readAll(storage, 'k')).toEqual(text('third one'));
        await storage.put('fresh', [text('x')], { ifNoneMatch: false });
        expect(await readAll(storage, 'fresh')).toEqual(text('x'));
      });

      it('lets exactly one of many racing puts win', async () => {
        const bodies = Array.from({ length: 16 }, (_, index) => text(`writer ${index}`));
        const outcomes = await Promise.allSettled(bodies.map((body) => storage.put('raced', [body])));
        const winners = bodies.filter((_, index) => outcomes[index]!.status === 'fulfilled');
        expect(winners).toHaveLength(1);
        for (const outcome of outcomes) {
          if (outcome.status === 'rejected') expect(outcome.reason.kind).toBe('already-exists');
        }
        expect(await readAll(storage, 'raced')).toEqual(winners[0]);
      });

      it('names what is missing: the object, or the end of the range', async () => {
        await storage.put('k', [text('0123456789')]);
        expect(await kindOf(storage.getRange('none', { position: 0, size: 1 }))).toBe('not-found');
        expect(await kindOf(storage.getRange('k/below', { position: 0, size: 1 }))).toBe('not-found');
        for (const range of [
          { position: 10, size: 1 },
          { position: 9, size: 2 },
          { position: 0, size: 11 },
          { position: 1_000_000, size: 5 },
        ]) {
          expect(await kindOf(storage.getRange('k', range))).toBe('range-not-satisfiable');
          const into = new Uint8Array(range.size);
          expect(await kindOf(storage.getRange('k', range, { into }))).toBe('range-not-satisfiable');
        }
      });

      it('does not allocate by a claimed size', async () => {
        await storage.put('k', [text('tiny')]);
        const huge = { position: 0, size: 2 ** 45 };
        expect(await kindOf(storage.getRange('k', huge))).toBe('range-not-satisfiable');
      });

      it('serves many gets at a time', async () => {
        const bytes = new Uint8Array(10_000).map((_, index) => index & 255);
        await storage.put('k', [bytes]);
        const positions = Array.from({ length: 200 }, (_, index) => index * 40);
        await inParallel(positions, 50, async (position) => {
          expect(await storage.getRange('k', { position, size: 40 })).toEqual(bytes.slice(position, position + 40));
        });
      });
    });

    describe('head, list and delete', () => {
      it('tells size and time of an object, and undefined of none', async () => {
        const before = Date.now();
        await storage.put('a/b', [text('xyz')]);
        const found = await storage.head('a/b');
        expect(found).toMatchObject({ key: 'a/b', sizeBytes: 3 });
        expect(Math.abs(found!.lastModifiedMs - before)).toBeLessThan(subject.clockToleranceMs);
        expect(await storage.head('a')).toBeUndefined();
        expect(await storage.head('a/b/c')).toBeUndefined();
      });

      it('lists in the order of keys, by prefix and after a key', async () => {
        const keys = ['a/b', 'a0', 'B', '_', 'a/b0', 'a/c/d', 'b/1', 'b/10', 'b/2'];
        if (!subject.listsByFolder) keys.push('a-b', 'a.b');
        for (const key of keys) await storage.put(key, [text(key)]);
        const sorted = [...keys].sort();
        const listed = await collect(storage.list());
        expect(listed.map((summary) => summary.key)).toEqual(sorted);
        for (const { key, sizeBytes } of listed) expect(sizeBytes).toBe(key.length);
        for (const prefix of ['a', 'a/', 'a/b', 'b/1', 'nothing', 'a/c/d']) {
          expect(await keysOf(storage.list({ prefix }))).toEqual(sorted.filter((key) => key.startsWith(prefix)));
        }
        const between = subject.listsByFolder ? ['zzz'] : ['a', 'a/', 'a/c', 'zzz'];
        for (const after of [...keys, ...between]) {
          expect(await keysOf(storage.list({ after }))).toEqual(sorted.filter((key) => key > after));
          const expected = sorted.filter((key) => key > after && key.startsWith('a/'));
          expect(await keysOf(storage.list({ prefix: 'a/', after }))).toEqual(expected);
        }
      });

      it(`lists and deletes ${subject.manyObjects} objects`, { timeout: 120_000 }, async () => {
        const keys = Array.from({ length: subject.manyObjects }, (_, i) => `many/${String(i).padStart(6, '0')}`);
        await inParallel(keys, 32, (key) => storage.put(key, [text('x')]));
        expect(await keysOf(storage.list({ prefix: 'many/' }))).toEqual(keys);
        for await (const { key } of storage.list()) {
          expect(key).toBe(keys[0]);
          break;
        }
        const result = await storage.delete([...keys, 'many/none']);
        expect(result.failed).toEqual([]);
        expect(result.deleted.sort()).toEqual([...keys, 'many/none'].sort());
        expect(await keysOf(storage.list())).toEqual([]);
      });

      it('deletes one object and not its neighbours', async () => {
        for (const key of ['d/1', 'd/10', 'd/2']) await storage.put(key, [text(key)]);
        expect(await storage.delete(['d/1'])).toEqual({ deleted: ['d/1'], failed: [] });
        expect(await keysOf(storage.list())).toEqual(['d/10', 'd/2']);
        expect(await kindOf(storage.getRange('d/1', { position: 0, size: 1 }))).toBe('not-found');
        await storage.put('d/1', [text('again')]);
        expect(await readAll(storage, 'd/1')).toEqual(text('again'));
        expect(await storage.delete([])).toEqual({ deleted: [], failed: [] });
      });
    });

    describe('bad arguments', () => {
      const badKeys = [
        '',
        '/',
        'a/',
        '/a',
        'a//b',
        '.',
        '..',
        'a/../b',
        '.a',
        'a/.b',
        'a b',
        'ä',
        'a\0',
        'a%2e',
        'a\\b',
      ];
      badKeys.push('x'.repeat(513), `a/${'y'.repeat(256)}`);

      it('refuses what is no key, in every operation', async () => {
        for (const key of badKeys) {
          await expect(storage.put(key, [])).rejects.toThrow(TypeError);
          await expect(storage.getRange(key, { position: 0, size: 1 })).rejects.toThrow(TypeError);
          await expect(storage.head(key)).rejects.toThrow(TypeError);
          await expect(storage.delete(['fine', key])).rejects.toThrow(TypeError);
        }
        expect(await keysOf(storage.list())).toEqual([]);
      });

      it('takes the longest key', async () => {
        const key = `${'x'.repeat(255)}/${'y'.repeat(255)}/`.slice(0, 511);
        await storage.put(key, [text('long')]);
        expect(await keysOf(storage.list())).toEqual([key]);
        expect(await readAll(storage, key)).toEqual(text('long'));
      });

      it('refuses empty and unsafe ranges and an array of another size', async () => {
        await storage.put('k', [text('abc')]);
        for (const range of [
          { position: 0, size: 0 },
          { position: -1, size: 1 },
          { position: 0.5, size: 1 },
          { position: 2 ** 53 - 1, size: 2 },
          { position: 0, size: Number.NaN },
        ]) {
          await expect(storage.getRange('k', range)).rejects.toThrow(RangeError);
        }
        const into = new Uint8Array(2);
        await expect(storage.getRange('k', { position: 0, size: 3 }, { into })).rejects.toThrow(TypeError);
      });
    });

    describe('abort and close', () => {
      it('rejects with the reason of an aborted signal, and does nothing', async () => {
        const signal = AbortSignal.abort(new Error('not wanted any more'));
        await storage.put('k', [text('abc')]);
        const attempts = [
          () => storage.put('new', [text('x')], { signal }),
          () => storage.getRange('k', { position: 0, size: 1 }, { signal }),
          () => storage.head('k', { signal }),
          () => collect(storage.list({ signal })),
          () => storage.delete(['k'], { signal }),
        ];
        for (const attempt of attempts) await expect(attempt()).rejects.toThrow('not wanted any more');
        expect(await keysOf(storage.list())).toEqual(['k']);
      });

      it('writes nothing into a get that was aborted on its way, and stays usable', async () => {
        await storage.put('k', [new Uint8Array(100_000).fill(7)]);
        const intos = Array.from({ length: 30 }, () => new Uint8Array(100_000));
        const outcomes = await Promise.allSettled(
          intos.map((into, index) => {
            const abort = new AbortController();
            const get = storage.getRange('k', { position: 0, size: 100_000 }, { into, signal: abort.signal });
            setTimeout(() => abort.abort(new Error('changed my mind')), index % 10);
            return get.finally(() => into.fill(9));
          }),
        );
        for (const outcome of outcomes) {
          if (outcome.status === 'rejected') expect(outcome.reason.message).toBe('changed my mind');
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
        for (const into of intos) expect(into.every((byte) => byte === 9)).toBe(true);
        expect((await storage.getRange('k', { position: 99_999, size: 1 }))[0]).toBe(7);
      });

      it('closes once, settles what is in flight and refuses what comes later', async () => {
        await storage.put('k', [text('abc')]);
        const inFlight = Array.from({ length: 20 }, (_, i) => storage.put(`late/${i}`, [new Uint8Array(50_000)]));
        const settled = Promise.allSettled(inFlight);
        const closing = storage.close();
        expect(storage.close()).toBe(closing);
        await closing;
        for (const outcome of await settled) {
          if (outcome.status === 'rejected') expect(outcome.reason.kind).toBe('closed');
        }
        expect(await kindOf(storage.put('k2', []))).toBe('closed');
        expect(await kindOf(storage.getRange('k', { position: 0, size: 1 }))).toBe('closed');
        expect(await kindOf(storage.head('k'))).toBe('closed');
        expect(await kindOf(collect(storage.list()))).toBe('closed');
        expect(await kindOf(storage.delete(['k']))).toBe('closed');
      });
    });

    it('agrees with a map under any sequence of operations', { timeout: 120_000 }, async () => {
      const key = fc.constantFrom('p/a', 'p/b', 'p/c', 'q', 'r/s/t');
      const bytes = fc.tuple(fc.integer(), fc.integer({ min: 0, max: 5000 }));
      const operation = fc.oneof(
        fc.record({ kind: fc.constant('put' as const), key, bytes, replace: fc.boolean() }),
        fc.record({ kind: fc.constant('get' as const), key, from: fc.double({ min: 0, max: 1, noNaN: true }) }),
        fc.record({ kind: fc.constant('delete' as const), keys: fc.array(key, { maxLength: 4 }) }),
        fc.record({ kind: fc.constant('list' as const), prefix: fc.constantFrom('', 'p', 'p/', 'r/s/', 'x') }),
      );
      const property = fc.asyncProperty(fc.array(operation, { maxLength: 25 }), async (operations) => {
        await storage.delete(await keysOf(storage.list()));
        const model = new Map<string, Uint8Array>();
        for (const step of operations) {
          if (step.kind === 'put') {
            const body = seededRandom(step.bytes[0]).bytes(step.bytes[1]);
            const put = storage.put(step.key, [body], { ifNoneMatch: !step.replace });
            if (!step.replace && model.has(step.key)) expect(await kindOf(put)).toBe('already-exists');
            else {
              await put;
              model.set(step.key, body);
            }
          } else if (step.kind === 'get') {
            const expected = model.get(step.key);
            const position = Math.floor(step.from * (expected?.byteLength ?? 0));
            const size = Math.max(1, (expected?.byteLength ?? 0) - position);
            const get = storage.getRange(step.key, { position, size });
            if (!expected) expect(await kindOf(get)).toBe('not-found');
            else if (expected.byteLength < position + size) expect(await kindOf(get)).toBe('range-not-satisfiable');
            else expect(Buffer.compare(await get, expected.subarray(position))).toBe(0);
          } else if (step.kind === 'delete') {
            expect((await storage.delete(step.keys)).failed).toEqual([]);
            for (const deleted of step.keys) model.delete(deleted);
          } else {
            const expected = [...model.keys()].filter((each) => each.startsWith(step.prefix)).sort();
            expect(await keysOf(storage.list({ prefix: step.prefix }))).toEqual(expected);
          }
        }
      });
      await fc.assert(property, { ...tellsSeed(), numRuns: subject.propertyRuns });
    });
  });
}
