/** Opening an S3 storage: one clear line for everything that can be set up wrong, and no secret in any of them. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openS3ObjectStorage, S3ObjectStorage, type S3StorageConfig } from '../../../src/s3.ts';
import { StorageError, type StorageErrorKind } from '../../../src/storage/object-storage.ts';
import { S3Double, type S3DoubleOptions } from '../../support/s3/s3-double.ts';

const QUICK: Partial<S3StorageConfig> = {
  retry: { maxAttempts: 2, baseDelayMs: 1, throttledDelayMs: 1 },
};

const doubles: S3Double[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(doubles.splice(0).map((double) => double.stop()));
});

async function start(options: S3DoubleOptions = {}): Promise<S3Double> {
  const double = await S3Double.start(options);
  doubles.push(double);
  return double;
}

const secrets = /double-secret|hunter2|StringToSign|secret-looking|the-session-token/;

async function refusal(config: S3StorageConfig): Promise<[StorageErrorKind, string]> {
  const error = await openS3ObjectStorage({ ...QUICK, ...config }).then(
    () => expect.unreachable('opening should have failed'),
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(StorageError);
  expect(error.message).toMatch(/^cannot [^\n]+$|^no AWS credentials[^\n]+$/);
  expect(`${error.stack} ${JSON.stringify(error)} ${error.cause}`).not.toMatch(secrets);
  return [error.kind, error.message];
}

describe('openS3ObjectStorage', () => {
  it('opens, having tried everything out, and leaves nothing behind', async () => {
    const double = await start();
    const storage = await openS3ObjectStorage({ ...double.config, prefix: 'a/b' });
    expect(storage.description).toBe(`s3://double/a/b at ${double.endpoint} (us-east-1)`);
    const operations = ['PutObject', 'GetObject', 'ListObjectsV2', 'DeleteObjects'];
    for (const operation of operations) expect(double.requests.get(operation)).toBeGreaterThan(0);
    expect(double.store.objects.size).toBe(0);
    await storage.close();
  });

  it('names a bucket that does not exist', async () => {
    const double = await start();
    expect(await refusal({ ...double.config, bucket: 'other' })).toEqual([
      'denied',
      expect.stringMatching(/bucket other does not exist at http:\S+; create it or correct its name/),
    ]);
  });

  it('names the right region', async () => {
    const double = await start({ region: 'eu-west-1' });
    expect(await refusal({ ...double.config, region: 'us-east-1' })).toEqual([
      'denied',
      expect.stringMatching(/bucket double is not in region us-east-1; set region eu-west-1/),
    ]);
  });

  it('tells a wrong secret from an unknown access key', async () => {
    const double = await start();
    const wrong = { accessKeyId: 'DOUBLE', secretAccessKey: 'hunter2' };
    expect(await refusal({ ...double.config, credentials: wrong })).toEqual([
      'denied',
      expect.stringContaining('the secret access key does not belong to the access key id'),
    ]);
    const unknown = { accessKeyId: 'NOBODY', secretAccessKey: 'hunter2' };
    expect(await refusal({ ...double.config, credentials: unknown })).toEqual([
      'denied',
      expect.stringContaining('the access key id is unknown at http'),
    ]);
  });

  it.each(['PutObject', 'GetObject', 'ListObjectsV2', 'DeleteObjects'])(
    'says that %s is not permitted',
    async (operation) => {
      const double = await start({ denied: [operation] });
      expect(await refusal(double.config)).toEqual([
        'denied',
        expect.stringContaining('the credentials lack a permission on bucket double; allow s3:GetObject'),
      ]);
    },
  );

  it('says that credentials have expired', async () => {
    const sessionToken = 'the-session-token';
    const account = { accessKeyId: 'DOUBLE', secretAccessKey: 'double-secret', sessionToken, expired: true };
    const double = await start({ accounts: [account] });
    expect(await refusal(double.config)).toEqual([
      'denied',
      expect.stringContaining('the credentials have expired; renew them'),
    ]);
  });

  it('says that the clock is wrong, and what the store has', async () => {
    const double = await start({ clockOffsetMs: 3_600_000 });
    expect(await refusal(double.config)).toEqual([
      'denied',
      expect.stringMatching(/this machine's clock is too far from the store's, which says \d{4}-\S+Z; set it right/),
    ]);
  });

  it('names an endpoint that refuses, does not exist, or is silent', async () => {
    const { config } = await start();
    await doubles.pop()!.stop();
    expect(await refusal(config)).toEqual(['unavailable', expect.stringContaining('connection refused')]);
    const nowhere = { ...config, endpoint: 'http://no-such-host.invalid:9000' };
    const [kind, message] = await refusal(nowhere);
    expect([kind, message]).toEqual(['unavailable', expect.stringContaining("endpoint's name")]);
    const silent = await start({ schedule: () => ({ at: 'before', do: 'stall' }) });
    expect(await refusal({ ...silent.config, deadlines: { firstByteMs: 300 } })).toEqual([
      'timeout',
      expect.stringContaining('no answer for 300 ms'),
    ]);
  });

  it('tells an endpoint without TLS from one whose certificate is bad', async () => {
    const { config } = await start();
    const [kind, message] = await refusal({ ...config, endpoint: config.endpoint!.replace('http:', 'https:') });
    expect([kind, message]).toEqual([
      'denied',
      expect.stringMatching(/answers without TLS \(ERR_SSL_\w+\); is it http:/),
    ]);
  });

  it('names the profile that has no credentials', async () => {
    const { config } = await start();
    const { credentials: _, ...rest } = config;
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
    const [kind, message] = await refusal({ ...rest, profile: 'no-such-profile' });
    expect([kind, message]).toEqual([
      'denied',
      expect.stringMatching(/^[^\n]*no AWS credentials from profile no-such-profile: /),
    ]);
  });

  it('says that there are no credentials', async () => {
    const double = await start();
    const none = async (): Promise<never> => {
      throw new Error('Could not load credentials from any providers');
    };
    expect(await refusal({ ...double.config, credentials: none })).toEqual([
      'denied',
      expect.stringContaining('set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY'),
    ]);
  });

  it('says that the store ignores If-None-Match, unless told that it does', async () => {
    const double = await start({ ignoreIfNoneMatch: true });
    expect(await refusal(double.config)).toEqual(['denied', expect.stringContaining('ignores If-None-Match')]);
    const storage = await openS3ObjectStorage({ ...double.config, conditionalWrites: false });
    await storage.close();
  });

  it('works without checksum headers for stores that reject them', async () => {
    const double = await start({ rejectChecksums: true });
    const storage = await openS3ObjectStorage({ ...double.config, checksums: false });
    await storage.put('k', [Buffer.from('123456789')], { crc32c: 0xe3069283 });
    expect(await storage.delete(['k'])).toEqual({ deleted: ['k'], failed: [] });
    await storage.close();
  });
});

describe('S3ObjectStorage', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it('finds the endpoints of AWS as the SDK does, without asking anyone', async () => {
    const credentials = { accessKeyId: 'A', secretAccessKey: 'hunter2' };
    const describeBucket = async (bucket: string): Promise<string> => {
      const storage = await S3ObjectStorage.open({ bucket, region: 'eu-central-1', credentials });
      await storage.close();
      return storage.description;
    };
    expect(await describeBucket('my-bucket')).toBe(
      's3://my-bucket/ at https://my-bucket.s3.eu-central-1.amazonaws.com (eu-central-1)',
    );
    expect(await describeBucket('my.bucket')).toBe(
      's3://my.bucket/ at https://s3.eu-central-1.amazonaws.com (eu-central-1)',
    );
    vi.stubEnv('AWS_ENDPOINT_URL_S3', 'http://127.0.0.1:9');
    expect(await describeBucket('my-bucket')).toContain('127.0.0.1:9');
  });

  it('says that the region is missing, and takes the usual one for a store other than AWS', async () => {
    for (const name of ['AWS_REGION', 'AWS_DEFAULT_REGION', 'AWS_PROFILE']) vi.stubEnv(name, undefined);
    for (const name of ['AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE']) vi.stubEnv(name, '/dev/null');
    await expect(S3ObjectStorage.open({ bucket: 'my-bucket' })).rejects.toMatchObject({
      kind: 'denied',
      message: expect.stringMatching(
        /^cannot resolve where bucket my-bucket is: no region is set; set AWS_REGION, or region/,
      ),
    });
    const storage = await S3ObjectStorage.open({ bucket: 'my-bucket', endpoint: 'http://127.0.0.1:9' });
    expect(storage.description).toBe('s3://my-bucket/ at http://127.0.0.1:9 (us-east-1)');
    await storage.close();
  });

  it('sends the checksum, the encryption settings and, when told to, a signed payload', async () => {
    const double = await start();
    const serverSideEncryption = { algorithm: 'aws:kms', kmsKeyId: 'key-1' } as const;
    const storage = await S3ObjectStorage.open({ ...double.config, serverSideEncryption, signPayload: true });
    await storage.put('k', [Buffer.from('12345'), Buffer.from('6789')], { crc32c: 0xe3069283 });
    expect(double.store.objects.get('k')!.metadata).toMatchObject({
      'x-amz-server-side-encryption': 'aws:kms',
      'x-amz-server-side-encryption-aws-kms-key-id': 'key-1',
    });
    expect(await storage.getRange('k', { position: 3, size: 4 })).toEqual(new Uint8Array(Buffer.from('4567')));
    await storage.close();
  });

  it('refuses a body that does not have its checksum, and stores nothing', async () => {
    const double = await start();
    const storage = await S3ObjectStorage.open({ ...double.config, ...QUICK });
    await expect(storage.put('k', [Buffer.from('123456780')], { crc32c: 0xe3069283 })).rejects.toMatchObject({
      kind: 'corrupt',
    });
    expect(double.store.objects.size).toBe(0);
    await storage.close();
  });

  it('takes new credentials up when the old have expired, once for all requests', async () => {
    const account = { accessKeyId: 'DOUBLE', secretAccessKey: 'double-secret', sessionToken: 'old' };
    const double = await start({ accounts: [account] });
    let provided = 0;
    const credentials = async () => {
      provided++;
      const current = double.accounts.find((each) => !each.expired)!;
      return { ...current, expiration: new Date(Date.now() + 3_600_000) };
    };
    const storage = await S3ObjectStorage.open({ ...double.config, ...QUICK, credentials });
    await storage.put('k', [Buffer.from('bytes')]);
    const before = provided;
    double.accounts = [
      { ...account, expired: true },
      { accessKeyId: 'NEXT', secretAccessKey: 'next-secret', sessionToken: 'new' },
    ];
    const gets = Array.from({ length: 20 }, () => storage.getRange('k', { position: 0, size: 5 }));
    for (const bytes of await Promise.all(gets)) expect(Buffer.from(bytes).toString()).toBe('bytes');
    expect(provided - before).toBe(1);
    expect(storage.stats).toMatchObject({ retries: 0, inFlight: 0 });
    await storage.close();
  });
});
