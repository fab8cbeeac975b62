/** A record kernel of a test's own, and the oracle's parts from libraries that share nothing with it. */
import { gunzipSync } from 'node:zlib';
import * as zstd from '@bokuweb/zstd-wasm';
import crc32c from 'crc-32/crc32c.js';
import * as lz4 from 'lz4-napi';
import { Errors } from '../../src/common/errors.ts';
import { validateBatch } from '../../src/record/batch-validator.ts';
import type { BatchVerdict } from '../../src/record/batch-verdict.ts';
import type { OracleParts } from '../../src/record/record-batch.ts';
import { createKernelMemory, kernelModule, RecordKernel } from '../../src/record/record-kernel.ts';
import type { ValidationOptions } from '../../src/record/validation.ts';
import { snappyDecode } from './snappy-frames.ts';

export const NOW_MS = 1_700_000_000_000;

/** Kafka's defaults. */
export const KAFKA_DEFAULTS: ValidationOptions = {
  maxMessageBytes: 1_048_588,
  compressionType: 'producer',
  timestampType: 0,
  nowMs: NOW_MS,
  timestampBeforeMaxMs: Number.POSITIVE_INFINITY,
  timestampAfterMaxMs: 3_600_000,
  compacted: false,
  allowTransactional: false,
};

export class TestKernel {
  readonly kernel: RecordKernel;
  /** Where inputs are put: surrounded by bytes that must not change. */
  readonly address: number;

  constructor(contentBytes = 32 * 1024 * 1024, slabsBytes = 16 * 1024 * 1024) {
    const memory = createKernelMemory({ regions: 1, contentBytes, slabsBytes });
    this.kernel = new RecordKernel(kernelModule(), memory, 0);
    this.address = memory.slabsAddress + 64;
  }

  /** Puts bytes at `address + shift` and returns the view of them there. */
  place(bytes: Uint8Array, shift = 0): Buffer {
    const at = this.address + shift;
    this.kernel.bytes.set(bytes, at);
    return this.kernel.bytes.subarray(at, at + bytes.length);
  }

  validate(records: Uint8Array, options: Partial<ValidationOptions> = {}, shift = 0): BatchVerdict {
    const placed = this.place(records, shift);
    return validateBatch(this.kernel, placed.byteOffset, placed.length, { ...KAFKA_DEFAULTS, ...options });
  }

  /**
   * Whether a batch was refused because, repaired and compressed again, it is beyond the topic's limit. The oracle, which
   * does not compress, cannot tell.
   */
  outgrew(records: Uint8Array, options: ValidationOptions, verdict: BatchVerdict): boolean {
    if (verdict.error !== Errors.MESSAGE_TOO_LARGE) return false;
    const { rebuilt } = this.validate(records, { ...options, maxMessageBytes: KAFKA_DEFAULTS.maxMessageBytes });
    return rebuilt !== undefined && rebuilt.length > options.maxMessageBytes;
  }

  /** The batch that a verdict says is to be stored. */
  stored(verdict: BatchVerdict, shift = 0): Buffer {
    if (verdict.rebuilt) return Buffer.from(verdict.rebuilt);
    const at = this.address + shift;
    return Buffer.from(this.kernel.bytes.subarray(at, at + verdict.sizeBytes));
  }
}

export async function oracleParts(): Promise<OracleParts> {
  await zstd.init();
  return {
    crc32c: (bytes) => crc32c.buf(bytes) >>> 0,
    decompress(codec, payload) {
      try {
        if (codec === 'gzip') return gunzipSync(payload);
        if (codec === 'snappy') return snappyDecode(Buffer.from(payload));
        if (codec === 'lz4') return lz4.decompressFrameSync(Buffer.from(payload));
        return zstd.decompress(payload);
      } catch {
        return 'CORRUPT_MESSAGE';
      }
    },
  };
}
