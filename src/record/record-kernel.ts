/**
 * The host side of the record kernel: the only importer of the wasm binary. Compiles it, lays out its memory, and turns
 * addresses, statuses and result fields into calls and values.
 *
 * One `RecordKernel` per thread over the same memory; each owns the region it was given and nothing else. Nothing to
 * close: an instance ends with its thread.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { assert } from '../common/assert.ts';
import { type DecompressionExports, decompress } from './compression/decompress.ts';
import type { DecompressionLimits } from './compression/decompression-limits.ts';
import * as layout from './kernel-layout.ts';
import type { CompressionCodec } from './validation.ts';

/** The functions of wasm/assembly/index.ts. i64 is bigint; addresses and sizes are bytes. */
interface KernelExports extends DecompressionExports {
  initTables(): void;
  crc32c(region: number, address: number, size: number, crc: number): number;
  crc32cCombine(first: number, second: number, secondBytes: number): number;
  checkBatch(region: number, address: number, size: number, maxMessageBytes: number, flags: number): number;
  walk(region: number, address: number, size: number, most: number): number;
  checkRecords(
    region: number,
    batch: number,
    address: number,
    size: number,
    flags: number,
    earliest: number,
    latest: number,
  ): number;
  listBadRecords(
    region: number,
    batch: number,
    address: number,
    flags: number,
    earliest: number,
    latest: number,
  ): number;
  renumberRecords(region: number, batch: number, address: number, to: number): number;
  findTimestamp(
    region: number,
    batch: number,
    address: number,
    size: number,
    timestamp: bigint,
    fromOffset: bigint,
  ): number;
  setMaxTimestamp(address: number, size: number, attributes: number, maxTimestamp: bigint): number;
  setLogAppendTime(address: number, size: number, timeMs: number): number;
  assignOffsets(
    region: number,
    address: number,
    size: number,
    baseOffset: bigint,
    lastOffset: bigint,
    leaderEpoch: number,
    logAppendTime: bigint,
  ): number;
}

/** Where a kernel's memory ends and how much of it is whose. */
export interface KernelMemory {
  readonly memory: WebAssembly.Memory;
  readonly regions: number;
  /** Room for the plain bytes of one compressed batch, in each region. */
  readonly contentBytes: number;
  /** First byte after the regions. */
  readonly slabsAddress: number;
  readonly slabsBytes: number;
}

/** What a kernel's memory is made of. */
export interface KernelMemoryOptions {
  /** Whether other threads are to have kernels over it. @default true */
  readonly shared?: boolean;
  readonly regions: number;
  readonly contentBytes: number;
  readonly slabsBytes: number;
}

/** Pieces that stay in the fastest cache between the copy and the CRC. */
const COPY_BYTES = 16384;

const roundUp = (bytes: number, unit: number): number => Math.ceil(bytes / unit) * unit;

/** Bytes of one region: what the layout fixes, content twice (plain bytes, and their rebuilt form), a page between. */
function regionBytes(contentBytes: number): number {
  return roundUp(layout.CONTENT + 2 * contentBytes, layout.PAGE_BYTES) + layout.PAGE_BYTES;
}

/**
 * Lays out a memory: tables, regions, slabs. Untouched pages cost nothing.
 * @throws RangeError when it would not fit into the 4 GiB that wasm can address
 */
export function createKernelMemory(options: KernelMemoryOptions): KernelMemory {
  const slabsAddress = layout.REGIONS + options.regions * regionBytes(options.contentBytes);
  // The folds read up to 15 bytes past the end of their input: the last page stays empty.
  const pages = Math.ceil((slabsAddress + options.slabsBytes) / layout.PAGE_BYTES) + 1;
  if (pages > 65536) {
    throw new RangeError(
      `the record memory would take ${pages * layout.PAGE_BYTES} bytes, more than the 4 GiB that WebAssembly can ` +
        `address; lower the append and fetch limits (${options.slabsBytes} bytes of slabs) or the worker threads`,
    );
  }
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: options.shared ?? true });
  return { memory, ...options, slabsAddress };
}

let compiled: WebAssembly.Module | undefined;

function kernelBinary(): Uint8Array {
  return readFileSync(fileURLToPath(import.meta.resolve('#record-kernel.wasm')));
}

/** The compiled kernel; once per thread, and main hands its own to the workers. */
export function kernelModule(): WebAssembly.Module {
  compiled ??= new WebAssembly.Module(kernelBinary());
  return compiled;
}

/** In the binary: the import of `env.memory`, kind 2 (memory), limits flag 3 (a maximum, shared). */
const MEMORY_IMPORT = Buffer.from('\x03env\x06memory\x02\x03', 'latin1');

/**
 * The same kernel over a memory of one thread's own. V8 copies into unshared memory two to three times as fast, which
 * decides for callers whose bytes lie elsewhere. Only the flag of the memory's import differs.
 */
export function unsharedKernelModule(): WebAssembly.Module {
  const binary = kernelBinary();
  const at = Buffer.from(binary.buffer, binary.byteOffset, binary.byteLength).indexOf(MEMORY_IMPORT);
  assert(at >= 0, 'the kernel imports a shared memory with a maximum');
  binary[at + MEMORY_IMPORT.length - 1] = 1;
  return new WebAssembly.Module(binary);
}

function abort(_message: number, _file: number, line: number, column: number): never {
  throw new Error(`record kernel: assertion failed at line ${line}, column ${column}`);
}

export class RecordKernel {
  /** All of the memory. The memory never grows, so these views never detach. */
  readonly bytes: Buffer;
  readonly view: DataView;
  readonly memory: KernelMemory;
  readonly #exports: KernelExports;
  readonly #region: number;
  // Getters and property chains cost as much as a CRC over a hundred bytes.
  /** What a view's `buffer` is when it lies in this memory. */
  readonly buffer: ArrayBufferLike;
  readonly #crc32c: KernelExports['crc32c'];
  readonly #setLogAppendTime: KernelExports['setLogAppendTime'];

  /** `region` 0 belongs to the main thread, which is also the one that writes the tables. */
  constructor(module: WebAssembly.Module, memory: KernelMemory, region: number) {
    assert(region >= 0 && region < memory.regions, 'a kernel instance has a region of its own');
    const instance = new WebAssembly.Instance(module, { env: { memory: memory.memory, abort } });
    this.#exports = instance.exports as KernelExports;
    this.#region = layout.REGIONS + region * regionBytes(memory.contentBytes);
    this.memory = memory;
    this.bytes = Buffer.from(memory.memory.buffer as ArrayBuffer);
    this.view = new DataView(memory.memory.buffer);
    this.buffer = memory.memory.buffer;
    this.#crc32c = this.#exports.crc32c;
    this.#setLogAppendTime = this.#exports.setLogAppendTime;
    if (region === 0) this.#exports.initTables();
  }

  /** Address of this instance's room for plain bytes; `memory.contentBytes` of it. */
  get contentAddress(): number {
    return this.#region + layout.CONTENT;
  }

  /** The room after it, for their rebuilt form; as large. */
  get rebuiltAddress(): number {
    return this.contentAddress + this.memory.contentBytes;
  }

  /** Address of a view that lies in this memory. */
  addressOf(bytes: Uint8Array): number {
    assert(bytes.buffer === this.buffer, 'record bytes lie in the memory of their pool');
    return bytes.byteOffset;
  }

  /**
   * Decompresses a batch's records to `contentAddress`: the plain bytes' number, or a negative status, which
   * `decompressionFault` explains.
   */
  decompress(
    codec: Exclude<CompressionCodec, 'none'>,
    address: number,
    size: number,
    limits: DecompressionLimits,
  ): number {
    const content = { address: this.contentAddress, size: this.memory.contentBytes };
    return decompress(this.#exports, codec, { address, size }, content, this.#region + layout.DECOMPRESSION, limits);
  }

  crc32c(address: number, size: number, crc = 0): number {
    return this.#crc32c(this.#region, address, size, crc) >>> 0;
  }

  /** CRC-32C of bytes anywhere: those outside the kernel's memory pass through its room for content. */
  crc32cOf(bytes: Uint8Array, crc = 0): number {
    if (bytes.buffer === this.buffer) return this.#crc32c(this.#region, bytes.byteOffset, bytes.length, crc) >>> 0;
    let result = crc;
    for (let at = 0; at < bytes.length; at += COPY_BYTES) {
      // Making a view costs as much as a CRC over a hundred bytes.
      const piece = bytes.length <= COPY_BYTES ? bytes : bytes.subarray(at, at + COPY_BYTES);
      this.bytes.set(piece, this.contentAddress);
      result = this.crc32c(this.contentAddress, piece.length, result);
    }
    return result;
  }

  crc32cCombine(first: number, second: number, secondBytes: number): number {
    return this.#exports.crc32cCombine(first, second, secondBytes) >>> 0;
  }

  /** Header and CRC of what a producer sent; `goodBytes` then holds the batch's size. */
  checkBatch(address: number, size: number, maxMessageBytes: number, flags: number): number {
    return this.#exports.checkBatch(this.#region, address, size, Math.min(maxMessageBytes, 0xffffffff), flags);
  }

  /** Describes the batches that begin in a range, at most DESCRIPTORS_MAX; returns how many. */
  walk(address: number, size: number): number {
    return this.#exports.walk(this.#region, address, size, layout.DESCRIPTORS_MAX);
  }

  /** Address of the i-th descriptor of the last walk. */
  descriptorAddress(index: number): number {
    return this.#region + layout.DESCRIPTORS + index * layout.DESCRIPTOR_BYTES;
  }

  checkRecords(
    batch: number,
    address: number,
    size: number,
    flags: number,
    earliestMs: number,
    latestMs: number,
  ): number {
    return this.#exports.checkRecords(this.#region, batch, address, size, flags, earliestMs, latestMs);
  }

  /** Index and status of the records that `checkRecords` refused for keys or timestamps, the first BAD_RECORDS_MAX. */
  listBadRecords(
    batch: number,
    address: number,
    flags: number,
    earliestMs: number,
    latestMs: number,
  ): { readonly index: number; readonly status: number }[] {
    const found = this.#exports.listBadRecords(this.#region, batch, address, flags, earliestMs, latestMs);
    return Array.from({ length: found }, (_, i) => {
      const entry = layout.BAD_RECORDS + i * layout.BAD_RECORD_BYTES;
      return { index: this.resultInt(entry), status: this.resultInt(entry + 4) };
    });
  }

  renumberRecords(batch: number, address: number, to: number): number {
    return this.#exports.renumberRecords(this.#region, batch, address, to);
  }

  findTimestamp(batch: number, address: number, size: number, timestamp: bigint, fromOffset: bigint): number {
    return this.#exports.findTimestamp(this.#region, batch, address, size, timestamp, fromOffset);
  }

  setMaxTimestamp(address: number, size: number, attributes: number, maxTimestamp: bigint): number {
    return this.#exports.setMaxTimestamp(address, size, attributes, maxTimestamp) >>> 0;
  }

  /** Sets attributes bit 3 and the max timestamp, and patches the CRC, of a batch verified before. Returns the new CRC. */
  setLogAppendTime(address: number, size: number, timeMs: number): number {
    return this.#setLogAppendTime(address, size, timeMs) >>> 0;
  }

  assignOffsets(
    address: number,
    size: number,
    baseOffset: bigint,
    lastOffset: bigint,
    leaderEpoch: number,
    logAppendTimeMs: bigint,
  ): number {
    return this.#exports.assignOffsets(
      this.#region,
      address,
      size,
      baseOffset,
      lastOffset,
      leaderEpoch,
      logAppendTimeMs,
    );
  }

  /** A 32-bit field of the last call's result. */
  resultInt(field: number): number {
    return this.view.getInt32(this.#region + field, true);
  }

  resultLong(field: number): bigint {
    return this.view.getBigInt64(this.#region + field, true);
  }
}
