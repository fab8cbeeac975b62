/** A kernel memory of its own with a payload and a guarded target, for the decompression suites. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { type DecompressionExports, decompress } from '../../../src/record/compression/decompress.ts';
import { type DecompressionLimits, decompressionLimits } from '../../../src/record/compression/decompression-limits.ts';
import * as status from '../../../src/record/compression/decompression-status.ts';
import { DECOMPRESSION_BYTES } from '../../../src/record/kernel-layout.ts';
import type { CompressionCodec } from '../../../src/record/validation.ts';

export type Codec = Exclude<CompressionCodec, 'none'>;
export const CODECS: readonly Codec[] = ['gzip', 'snappy', 'lz4', 'zstd'];

const MEBIBYTE = 2 ** 20;
const SCRATCH = MEBIBYTE;
const PAYLOAD = 2 * MEBIBYTE;
const TARGET = 16 * MEBIBYTE;
const GUARD_BYTES = 256;
const GUARD = Buffer.alloc(GUARD_BYTES, 0xa5);
/** What a target can hold. */
export const TARGET_BYTES = 40 * MEBIBYTE;

const pages = (TARGET + TARGET_BYTES + MEBIBYTE) / 65536;
const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
const bytes = Buffer.from(memory.buffer as ArrayBuffer);

function instantiate(): DecompressionExports {
  const path = fileURLToPath(new URL('../../../dist/record-kernel.wasm', import.meta.url));
  const abort = (): never => {
    throw new Error('the kernel aborted');
  };
  const module = new WebAssembly.Module(readFileSync(path));
  return new WebAssembly.Instance(module, { env: { memory, abort } }).exports as DecompressionExports;
}

const kernel = instantiate();

/** Limits that only the target's size bounds. */
export const UNLIMITED: DecompressionLimits = {
  ...decompressionLimits(TARGET_BYTES),
  maxOutputBytes: TARGET_BYTES,
};

/** The names of the statuses, for readable failures. */
export function statusName(code: number): string {
  return Object.entries(status).find(([, value]) => value === code)?.[0] ?? String(code);
}

/**
 * Decompresses into a target of `targetBytes` between guards, also at the scratch's end, and fails when one was touched.
 * Plain bytes, or the status's name.
 */
export function decode(
  codec: Codec,
  payload: Uint8Array,
  targetBytes = TARGET_BYTES,
  limits: DecompressionLimits = UNLIMITED,
): Buffer | string {
  bytes.set(payload, PAYLOAD);
  const guards = [TARGET - GUARD_BYTES, TARGET + targetBytes, SCRATCH - GUARD_BYTES, SCRATCH + DECOMPRESSION_BYTES];
  for (const guard of guards) bytes.set(GUARD, guard);
  const source = { address: PAYLOAD, size: payload.length };
  const written = decompress(kernel, codec, source, { address: TARGET, size: targetBytes }, SCRATCH, limits);
  for (const guard of guards) {
    const isWhole = bytes.subarray(guard, guard + GUARD_BYTES).equals(GUARD);
    if (!isWhole) throw new Error(`${codec} wrote outside its target, at ${guard - TARGET} of ${targetBytes} bytes`);
  }
  if (!bytes.subarray(PAYLOAD, PAYLOAD + payload.length).equals(payload)) throw new Error(`${codec} wrote its payload`);
  return written < 0 ? statusName(written) : Buffer.from(bytes.subarray(TARGET, TARGET + written));
}

/** Fails unless decoding gave exactly `plain`; far cheaper than vitest's own comparison of large buffers. */
export function expectPlain(decoded: Buffer | string, plain: Uint8Array): void {
  expect(typeof decoded === 'string' ? decoded : decoded.equals(plain)).toBe(true);
}

/** The kernel's xxHash32, which only tests call directly. */
export function xxhash32(input: Uint8Array, seed: number): number {
  bytes.set(input, PAYLOAD);
  const { xxhash32: hash } = kernel as unknown as { xxhash32(from: number, end: number, seed: number): number };
  return hash(PAYLOAD, PAYLOAD + input.length, seed) >>> 0;
}
