/** TLS to PostgreSQL, with a server of its own: what each sslmode checks, and that what it refuses is said. */
import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DisklessCoordinator } from '../../src/coordinator/diskless-coordinator.ts';
import { openPostgresCoordinator, type PostgresCoordinatorOptions } from '../../src/postgres.ts';
import { batch, file, topic } from '../coordinator/fixture.ts';
import { newSchema } from './postgres-harness.ts';
import { PostgresServer, serverIdentity } from './postgres-server.ts';

/** A certificate authority, and a certificate that it gave a server. */
class Authority {
  readonly certificate: string;
  readonly #key: string;
  readonly #folder: string;

  constructor(folder: string, name: string) {
    this.#folder = folder;
    this.certificate = join(folder, `${name}.pem`);
    this.#key = join(folder, `${name}.key`);
    const out = ['-keyout', this.#key, '-out', this.certificate];
    openssl('req', '-x509', ...NEW_KEY, '-subj', `/CN=${name}`, '-days', '2', ...out);
  }

  /** `altName`: whom the certificate is for, e.g. `IP:127.0.0.1`. */
  certify(name: string, altName: string): { readonly certificate: string; readonly key: string } {
    const [key, request, certificate] = ['key', 'csr', 'pem'].map((suffix) => join(this.#folder, `${name}.${suffix}`));
    const extension = ['-addext', `subjectAltName=${altName}`];
    openssl('req', ...NEW_KEY, '-subj', `/CN=${name}`, ...extension, '-keyout', key!, '-out', request!);
    const signing = ['-CA', this.certificate, '-CAkey', this.#key, '-CAcreateserial', '-copy_extensions', 'copy'];
    openssl('x509', '-req', '-in', request!, ...signing, '-days', '2', '-out', certificate!);
    return { key: key!, certificate: certificate! };
  }
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

function openssl(...args: string[]): void {
  execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

describe.skipIf(process.env.SHOAL_POSTGRES_URL)('TLS to PostgreSQL', () => {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-tls-'));
  const opened: DisklessCoordinator[] = [];
  let right: Authority;
  let wrong: Authority;
  let server: PostgresServer;
  let misnamed: PostgresServer;

  async function serve(certificate: string, key: string): Promise<PostgresServer> {
    const { uid, gid } = serverIdentity();
    // PostgreSQL refuses a key that is not its own user's.
    if (uid !== undefined) for (const path of [folder, certificate, key]) chownSync(path, uid, gid!);
    return PostgresServer.start({ ssl: 'on', ssl_cert_file: certificate, ssl_key_file: key });
  }

  beforeAll(async () => {
    right = new Authority(folder, 'right');
    wrong = new Authority(folder, 'wrong');
    const [own, other] = [right.certify('server', 'IP:127.0.0.1'), right.certify('other', 'DNS:elsewhere.example')];
    server = await serve(own.certificate, own.key);
    misnamed = await serve(other.certificate, other.key);
  });
  afterAll(async () => {
    await Promise.all(opened.map((coordinator) => coordinator.close()));
    await Promise.all([server, misnamed].map((one) => one.remove()));
    rmSync(folder, { recursive: true, force: true });
  });

  async function open(parameters: string, more: Partial<PostgresCoordinatorOptions> = {}, at = server) {
    const connectionString = `${at.url}${parameters}`;
    const coordinator = await openPostgresCoordinator({ connectionString, schema: newSchema(), ...more });
    opened.push(coordinator);
    return coordinator;
  }

  /** Opens and works; whether all connections of coordinators to this server are encrypted. */
  async function encrypted(parameters: string, more: Partial<PostgresCoordinatorOptions> = {}): Promise<boolean> {
    const coordinator = await open(parameters, more);
    const [a] = await topic(coordinator);
    expect((await coordinator.commitFile(file([batch(a!, 1)]))).batches[0]!.error).toBe(0);
    const rows = await server.query(
      "SELECT s.ssl FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) WHERE a.application_name = 'shoal'",
    );
    await opened.pop()!.close();
    expect(rows.length).toBeGreaterThan(1);
    return rows.every(({ ssl }) => ssl === true);
  }

  it('encrypts every connection and takes the authority from the connection string or from `ssl`', async () => {
    expect(await encrypted(`?sslmode=verify-full&sslrootcert=${right.certificate}`)).toBe(true);
    expect(await encrypted('', { ssl: { ca: readFileSync(right.certificate, 'utf8') } })).toBe(true);
  });

  it('refuses a server that another authority vouches for, and one that nobody known vouches for', async () => {
    const unavailable = { kind: 'unavailable', message: expect.stringMatching(/certificate/) };
    for (const mode of ['verify-full', 'verify-ca', 'require', 'prefer']) {
      await expect(open(`?sslmode=${mode}&sslrootcert=${wrong.certificate}`)).rejects.toMatchObject(unavailable);
      await expect(open(`?sslmode=${mode}`)).rejects.toMatchObject(unavailable);
    }
    await expect(open('', { ssl: { ca: readFileSync(wrong.certificate, 'utf8') } })).rejects.toMatchObject(unavailable);
  });

  it('refuses a server whose certificate is for another host', async () => {
    const parameters = `?sslmode=verify-full&sslrootcert=${right.certificate}`;
    await expect(open(parameters, {}, misnamed)).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringMatching(/altnames/),
    });
  });

  it('encrypts without checking with no-verify, and does neither with disable', async () => {
    expect(await encrypted('?sslmode=no-verify')).toBe(true);
    expect(await encrypted('?sslmode=disable')).toBe(false);
  });

  it('refuses a server without TLS when TLS is asked for', async () => {
    const plain = await PostgresServer.start();
    try {
      await expect(open('?sslmode=verify-full', {}, plain)).rejects.toMatchObject({
        kind: 'unavailable',
        message: expect.stringMatching(/does not support SSL/),
      });
    } finally {
      await plain.remove();
    }
  });
});
