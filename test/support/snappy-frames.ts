/** Snappy as Kafka's clients frame it, decoded by the snappy library: for oracles, which share nothing with the kernel. */
import * as snappy from 'snappy';

/** A raw block, or xerial's frames of them. */
export function snappyDecode(payload: Buffer): Buffer {
  if (payload.length < 16 || payload.toString('latin1', 1, 7) !== 'SNAPPY')
    return snappy.uncompressSync(payload) as Buffer;
  const blocks: Buffer[] = [];
  for (let at = 16; at < payload.length; ) {
    const size = payload.readInt32BE(at);
    blocks.push(snappy.uncompressSync(payload.subarray(at + 4, at + 4 + size)) as Buffer);
    at += 4 + size;
  }
  return Buffer.concat(blocks);
}
