/** Randomness, injected everywhere so that a whole engine can run in a simulation from one printed seed. */
import { randomBytes } from 'node:crypto';

export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** `count` random bytes in an array of their own. */
  bytes(count: number): Uint8Array;
}

/** The operating system's generator; what production uses (object keys must never collide). */
export const systemRandom: Random = {
  next: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48,
  bytes: (count) => new Uint8Array(randomBytes(count)),
};

/** A reproducible generator (SplitMix32) for tests, fuzzers and simulations. Never for keys in production. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next32 = (): number => {
    state = (state + 0x9e3779b9) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (z ^ (z >>> 15)) >>> 0;
  };
  return {
    next: () => next32() / 2 ** 32,
    bytes: (count) => Uint8Array.from({ length: count }, () => next32() & 0xff),
  };
}

/** A uniform integer in [min, max], both included. */
export function randomInt(random: Random, min: number, max: number): number {
  return min + Math.floor(random.next() * (max - min + 1));
}
