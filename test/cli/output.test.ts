/** What becomes of the commands when their output cannot be written: its reader has left, or the disk is full. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { metadata } from '../../src/protocol/messages/metadata.ts';
import { parseEndpoint } from '../../src/server/listener.ts';
import { root } from '../server/host-process.ts';
import { WireClient } from '../server/wire-client.ts';
import { plainBatch } from '../support/record-batches.ts';

const FULL = '/dev/full';

let folder: string;
let batches: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shoal-output-'));
  batches = join(folder, 'batches');
  writeFileSync(batches, plainBatch(2, 10));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

function serve(stderr: 'pipe' | number): ChildProcess {
  const args = ['dist/cli.js', 'serve', '--data', join(folder, 'data'), '--listen', '127.0.0.1:0'];
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', stderr] });
  children.push(child);
  return child;
}

/** Reads standard output up to the ready line, and no further: then its end of the pipe is closed. */
async function ready(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) {
    if (!line.startsWith('ready ')) continue;
    child.stdout!.destroy();
    return line.slice('ready '.length);
  }
  throw new Error('it ended before it was ready');
}

const exited = (child: ChildProcess): Promise<number | string | null> =>
  new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)));

describe.runIf(existsSync(FULL))('with a full disk', () => {
  it.each([['--help'], ['dump', 'batches'], ['dump', 'batches', '--json']])(
    'shoal %s %s ends with 1 and says why',
    (...args) => {
      const words = args.map((word) => (word === 'batches' ? batches : word));
      const { status, stderr } = spawnSync(process.execPath, ['dist/cli.js', ...words], {
        cwd: root,
        encoding: 'utf8',
        stdio: ['ignore', openSync(FULL, 'w'), 'pipe'],
      });
      expect([status, stderr]).toEqual([1, 'shoal: cannot write to standard output: ENOSPC\n']);
    },
  );

  it('serve goes on without its log', async () => {
    const host = serve(openSync(FULL, 'w'));
    const endpoint = parseEndpoint(await ready(host));
    for (let i = 0; i < 3; i++) {
      const stranger = await WireClient.connect(endpoint);
      stranger.socket.write('GET / HTTP/1.1\r\n\r\n');
      await stranger.closed;
    }
    const client = await WireClient.connect(endpoint);
    expect((await client.call(metadata, 9, { topics: [] })).clusterId).toBeTruthy();
    client.socket.destroy();
    const end = exited(host);
    host.kill('SIGTERM');
    expect(await end).toBe(0);
  });
});

it('serve drains when nobody reads any more what it says', async () => {
  const host = serve('pipe');
  let log = '';
  host.stderr!.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  await ready(host);
  const end = exited(host);
  host.kill('SIGTERM');
  expect([await end, log]).toEqual([0, '']);
});

it.each(['--help', 'dump'])('shoal %s ends quietly when its reader has left', (word) => {
  const command = `"${process.execPath}" dist/cli.js ${word} "${batches}"; echo "status $?" >&2`;
  const { stderr } = spawnSync('sh', ['-c', `{ sleep 0.01; ${command}; } | true`], { cwd: root, encoding: 'utf8' });
  expect(stderr).toBe('status 0\n');
});
