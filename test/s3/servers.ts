/**
 * The S3 servers that the suites of this folder run against: the one that SHOAL_S3_ENDPOINT names, else every server that
 * `.ci/s3-servers` can start here. Finding none is a failure, never a silent pass.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import type { S3StorageConfig } from '../../src/s3.ts';

const script = fileURLToPath(new URL('../../.ci/s3-servers', import.meta.url));
const run = promisify(execFile);

/** Where a server is known to differ from S3; an unknown one is held to S3's ways. */
export interface ServerQuirks {
  /** Lists `a/b` before `a-b`: folder by folder, not by the keys' characters. */
  readonly listsByFolder: boolean;
  /** A put into a bucket that does not exist creates it. */
  readonly createsBuckets: boolean;
}

const QUIRKS: Readonly<Record<string, ServerQuirks>> = {
  seaweedfs: { listsByFolder: true, createsBuckets: true },
};
const NO_QUIRKS: ServerQuirks = { listsByFolder: false, createsBuckets: false };

export interface S3Server {
  readonly name: string;
  /** Endpoint, region, bucket and, unless the environment has them, credentials. */
  readonly config: S3StorageConfig;
  readonly quirks: ServerQuirks;
  /** The same for a process that reads its environment, as the stress run does. */
  readonly env: NodeJS.ProcessEnv;
  stop(): Promise<void>;
}

/** The user's own server, or what can be started. @throws when there is none */
export async function startS3Servers(): Promise<S3Server[]> {
  if (process.env.SHOAL_S3_ENDPOINT) return [fromEnvironment(process.env)];
  const started = await Promise.allSettled([startServer('ceph'), startServer('seaweedfs')]);
  const servers = started.filter((each) => each.status === 'fulfilled').map((each) => each.value);
  const reasons = started.filter((each) => each.status === 'rejected').map((each) => String(each.reason));
  for (const reason of reasons) console.warn(`S3 server left out: ${reason}`);
  if (servers.length === 0) throw new Error('no S3 server: run `.ci/s3-servers install`, or set SHOAL_S3_ENDPOINT');
  return servers;
}

function fromEnvironment(env: NodeJS.ProcessEnv): S3Server {
  const config: S3StorageConfig = {
    bucket: env.SHOAL_S3_BUCKET ?? 'shoal-test',
    ...(env.SHOAL_S3_ENDPOINT && { endpoint: env.SHOAL_S3_ENDPOINT }),
    ...(env.SHOAL_S3_REGION && { region: env.SHOAL_S3_REGION }),
    ...(env.SHOAL_S3_PATH_STYLE && { forcePathStyle: env.SHOAL_S3_PATH_STYLE === 'true' }),
  };
  return { name: `${env.SHOAL_S3_ENDPOINT}`, config, quirks: NO_QUIRKS, env: {}, stop: async () => {} };
}

async function startServer(kind: 'ceph' | 'seaweedfs'): Promise<S3Server> {
  const folder = await mkdtemp(join(tmpdir(), `shoal-${kind}-`));
  const stop = async (): Promise<void> => {
    await run(script, ['stop', folder]);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const { stdout } = await run(script, ['start', kind, folder]);
    const env = Object.fromEntries(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split('=') as [string, string]),
    );
    const credentials = { accessKeyId: env.AWS_ACCESS_KEY_ID!, secretAccessKey: env.AWS_SECRET_ACCESS_KEY! };
    const { config } = fromEnvironment({ ...env, SHOAL_S3_BUCKET: `shoal-${kind}-test` });
    return { name: kind, config: { ...config, credentials }, quirks: QUIRKS[kind] ?? NO_QUIRKS, env, stop };
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
}

/** Creates the server's bucket unless it is there. */
export async function createBucket(config: S3StorageConfig): Promise<void> {
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  const { bucket, endpoint, region, forcePathStyle, credentials } = config;
  const client = new S3Client({
    ...(endpoint && { endpoint }),
    ...(region && { region }),
    ...(credentials && { credentials }),
    forcePathStyle: forcePathStyle ?? true,
  });
  try {
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
  } catch (error) {
    if (!/BucketAlready/.test((error as Error).name)) throw error;
  } finally {
    client.destroy();
  }
}

/** A prefix that nothing else uses. */
export function freshPrefix(): string {
  return `test-${randomUUID()}`;
}
