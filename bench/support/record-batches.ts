/** What the benches feed the kernel: record batches of JSON-like records, the same at every run. */
import { seededRandom } from '../../src/common/random.ts';
import type { CompressionCodec } from '../../src/record/validation.ts';
import { buildBatch, encodeRecord } from '../../test/support/record-batches.ts';

const CODECS: readonly CompressionCodec[] = ['none', 'gzip', 'snappy', 'lz4', 'zstd'];
const words = ['alpha', 'bravo', 'charlie', 'delta', 'echo', 'foxtrot', 'golf', 'hotel', 'india', 'juliett'];

/** `sizeBytes` of JSON lines: compressible as log records are, about three to six times. */
export function jsonLines(sizeBytes: number): Buffer {
  const random = seededRandom(1);
  const lines: string[] = [];
  for (let length = 0; length < sizeBytes; length += lines.at(-1)!.length) {
    const word = (): string => words[Math.floor(random.next() * words.length)]!;
    const id = Math.floor(random.next() * 1e9);
    lines.push(
      `{"id":${id},"user":"${word()}-${id % 977}","event":"${word()}","at":${1_700_000_000_000 + lines.length},"ok":true}\n`,
    );
  }
  return Buffer.from(lines.join('').slice(0, sizeBytes));
}

/** A batch whose records of `recordBytes` each make about `sizeBytes` of plain bytes; `payload` replaces them, compressed. */
export function recordBatch(
  sizeBytes: number,
  recordBytes: number,
  compressed?: { readonly codec: CompressionCodec; readonly payload: Uint8Array },
): Buffer {
  const text = jsonLines(sizeBytes);
  const overhead = 20;
  const records = Array.from({ length: Math.max(1, Math.floor(sizeBytes / recordBytes)) }, (_, i) => ({
    key: `key-${i % 100}`,
    value: text.subarray(i * recordBytes, (i + 1) * recordBytes - overhead),
    timestampDelta: i,
  }));
  const payload = compressed?.payload ?? Buffer.concat(records.map(encodeRecord));
  return buildBatch({ records, payload, attributes: CODECS.indexOf(compressed?.codec ?? 'none') });
}
