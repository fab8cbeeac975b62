/// <reference types="node" preserve="true" />
/**
 * `import … from 'shoal/s3'`: segments in S3, or in a store that speaks its protocol. The AWS SDK is loaded when the first
 * storage is opened.
 */
export { openS3ObjectStorage } from './storage/s3/open-s3-object-storage.ts';
export type { MultipartSettings, S3StorageConfig, ServerSideEncryption } from './storage/s3/s3-config.ts';
export { parseS3Url } from './storage/s3/s3-config.ts';
export { S3ObjectStorage, type S3Stats } from './storage/s3/s3-object-storage.ts';
