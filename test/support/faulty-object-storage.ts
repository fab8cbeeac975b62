/**
 * Any storage, failing a share of its puts and gets by a seeded schedule: before the operation, or after it has had its
 * effect (so that only the answer is lost). Typed failures only, as every storage gives them.
 */
import type { ByteRange } from '../../src/common/byte-range.ts';
import { type Random, seededRandom } from '../../src/common/random.ts';
import {
  type GetOptions,
  type ObjectStorage,
  type PutOptions,
  StorageError,
} from '../../src/storage/object-storage.ts';
import { intercept } from './intercept.ts';

export interface FaultCounts {
  putsBefore: number;
  putsAfter: number;
  gets: number;
}

export interface FaultyObjectStorage {
  readonly storage: ObjectStorage;
  readonly counts: FaultCounts;
}

/** @param rate chance of a fault per operation */
export function faultyObjectStorage(real: ObjectStorage, rate: number, seed: number): FaultyObjectStorage {
  const random: Random = seededRandom(seed);
  const counts: FaultCounts = { putsBefore: 0, putsAfter: 0, gets: 0 };
  const fails = (): boolean => random.next() < rate;
  const put = async (key: string, body: readonly Uint8Array[], options?: PutOptions): Promise<void> => {
    if (fails()) {
      counts.putsBefore++;
      throw new StorageError('unavailable', `put of object ${key} was made to fail`);
    }
    await real.put(key, body, options).catch((error: unknown) => {
      // The answer to an earlier attempt was dropped here, so the storage below cannot know that the object is its own.
      if (!(error instanceof StorageError && error.kind === 'already-exists' && lost.has(key))) throw error;
    });
    if (fails()) {
      counts.putsAfter++;
      lost.add(key);
      throw new StorageError('timeout', `the answer to the put of object ${key} was made to get lost`);
    }
  };
  const lost = new Set<string>();
  const getRange = async (key: string, range: ByteRange, options?: GetOptions): Promise<Uint8Array> => {
    if (fails()) {
      counts.gets++;
      throw new StorageError('unavailable', `get of object ${key} was made to fail`);
    }
    return real.getRange(key, range, options);
  };
  return { storage: intercept(real, { put, getRange }), counts };
}
