import { describe, expect, it } from 'vitest';
import { parseS3Url } from '../../../src/s3.ts';
import { checkS3Config } from '../../../src/storage/s3/s3-config.ts';

describe('parseS3Url', () => {
  it.each([
    ['s3://bucket', { bucket: 'bucket' }],
    ['s3://bucket/', { bucket: 'bucket' }],
    ['s3://my.bucket-1/a/b/', { bucket: 'my.bucket-1', prefix: 'a/b' }],
    ['s3://bucket?region=eu-central-1&profile=dev', { bucket: 'bucket', region: 'eu-central-1', profile: 'dev' }],
    [
      's3://bucket/p?endpoint=http://127.0.0.1:9000&path-style=true',
      { bucket: 'bucket', prefix: 'p', endpoint: 'http://127.0.0.1:9000', forcePathStyle: true },
    ],
    [
      's3://bucket?endpoint=http%3A%2F%2Fhost%3A1&path-style=false',
      { bucket: 'bucket', endpoint: 'http://host:1', forcePathStyle: false },
    ],
    [
      's3://bucket?checksums=false&conditional-writes=false',
      { bucket: 'bucket', checksums: false, conditionalWrites: false },
    ],
    ['s3://bucket?sse=AES256', { bucket: 'bucket', serverSideEncryption: { algorithm: 'AES256' } }],
    [
      's3://bucket?kms-key-id=arn:1',
      { bucket: 'bucket', serverSideEncryption: { algorithm: 'aws:kms', kmsKeyId: 'arn:1' } },
    ],
  ])('%s', (url, config) => {
    expect(parseS3Url(url)).toEqual(config);
  });

  it.each([
    ['http://bucket', /s3:\/\/BUCKET/],
    ['s3://', /s3:\/\/BUCKET/],
    ['s3:bucket', /s3:\/\/BUCKET/],
    ['not a url', /s3:\/\/BUCKET/],
    ['s3://AKIA:hunter2@bucket', /credentials do not belong into the storage URL/],
    ['s3://bucket?endpoint=http://u:hunter2@host', /credentials do not belong into the endpoint/],
    ['s3://bucket:9000', /has no port/],
    ['s3://b', /"b" is not a bucket name/],
    ['s3://bucket/a//b', /"a\/\/b" is not a prefix/],
    ['s3://bucket/../x?a=b', /unknown storage URL parameter a/],
    ['s3://bucket/a%20b', /"a b" is not a prefix/],
    ['s3://bucket?secret=hunter2', /unknown storage URL parameter secret; known are endpoint, region, profile/],
    ['s3://bucket?path-style=yes', /path-style is true or false/],
    ['s3://bucket?region=a&region=b', /region is given twice/],
    ['s3://bucket?endpoint=127.0.0.1:9000', /endpoint is written http:\/\/host:port/],
    ['s3://bucket?endpoint=ftp://host', /endpoint is written http:\/\/host:port/],
    ['s3://bucket?sse=rot13', /sse is AES256 or aws:kms/],
    ['s3://bucket--use1-az4--x-s3', /directory bucket/],
  ])('refuses %s', (url, message) => {
    const parse = (): unknown => parseS3Url(url);
    expect(parse).toThrow(TypeError);
    expect(parse).toThrow(message);
    expect(parse).not.toThrow(/hunter2/);
  });

  it('refuses parts that S3 would refuse', () => {
    expect(() => checkS3Config({ bucket: 'bucket', multipart: { partBytes: 1024 } })).toThrow(/at least 5242880/);
  });
});
