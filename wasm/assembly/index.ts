// The record kernel's exports. Memory map, status codes and result fields: src/record/kernel-layout.ts.
//
// An export never allocates and keeps nothing between calls: everything it needs comes as addresses, everything it says
// beyond its status goes to the caller's region. Addresses and sizes are the host's responsibility; what lies inside the
// bytes may be hostile.
export { crc32c, crc32cCombine } from './crc32c';
export { gunzip, lz4DecodeFrame, snappyDecode, zstdDecode } from './decompression';
export { checkBatch, walk } from './record-batch';
export { checkRecords, findTimestamp, listBadRecords, renumberRecords } from './records';
export { assignOffsets, setLogAppendTime, setMaxTimestamp } from './rewrite';
export { initTables } from './tables';
export { xxhash32 } from './xxhash32';
