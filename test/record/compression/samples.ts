/** Plain bytes of several kinds, from a seed. */
import { type Random, seededRandom } from '../../../src/common/random.ts';

/** Lines of JSON, as logs are. */
export function jsonLines(size: number, random: Random): Buffer {
  const events = ['click', 'view', 'purchase', 'scroll'];
  let text = '';
  for (let id = 0; text.length < size; id++) {
    const user = Math.floor(random.next() * 1e5);
    const price = (random.next() * 100).toFixed(2);
    text += `{"id":${id},"user":"user-${user}","event":"${events[id % 4]}","price":${price},"ts":${1700000000000 + id * 37}}\n`;
  }
  return Buffer.from(text.slice(0, size), 'latin1');
}

/** Runs, noise and repeats of every distance, one after the other. */
export function patchwork(size: number, random: Random): Buffer {
  const out = Buffer.alloc(size);
  const below = (limit: number): number => Math.floor(random.next() * limit);
  for (let at = 0; at < size; ) {
    const length = Math.min(size - at, 1 + below(1 + below(600)));
    const kind = below(4);
    if (kind === 0) out.set(random.bytes(length), at);
    else if (kind === 1 || at === 0) out.fill(below(256), at, at + length);
    else {
      const distance = 1 + below(Math.min(at, kind === 2 ? 24 : at));
      for (let i = 0; i < length; i++) out[at + i] = out[at + i - distance]!;
    }
    at += length;
  }
  return out;
}

/** Skewed letters without repeats: what entropy coders live on. */
export function letters(size: number, random: Random): Buffer {
  return Buffer.from(Uint8Array.from({ length: size }, () => 97 + Math.floor(random.next() ** 3 * 26)));
}

export type Kind = 'json' | 'patchwork' | 'letters' | 'zeros' | 'noise';
export const KINDS: readonly Kind[] = ['json', 'patchwork', 'letters', 'zeros', 'noise'];

export function sample(kind: Kind, size: number, seed: number): Buffer {
  const random = seededRandom(seed);
  switch (kind) {
    case 'json':
      return jsonLines(size, random);
    case 'patchwork':
      return patchwork(size, random);
    case 'letters':
      return letters(size, random);
    case 'zeros':
      return Buffer.alloc(size);
    case 'noise':
      return Buffer.from(random.bytes(size));
  }
}
