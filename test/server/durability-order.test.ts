/**
 * The order in which a produce becomes durable, as the kernel sees it: segment fsync → link → folder fsync → commit in the
 * coordinator's write-ahead log → answer on the socket. Needs strace, which .ci/run installs.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { metadata } from '../../src/protocol/messages/metadata.ts';
import { produce } from '../../src/protocol/messages/produce.ts';
import { parseEndpoint } from '../../src/server/listener.ts';
import { plainBatch } from '../support/record-batches.ts';
import { HostProcess } from './host-process.ts';
import { WireClient } from './wire-client.ts';

/** strace is there and this process may trace another. */
const traceable = spawnSync('strace', ['-f', '-e', 'trace=none', 'true']).status === 0;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shoal-strace-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Call {
  readonly name: string;
  readonly args: string;
}

/** The successful calls by the order in which they returned; a call that another thread interrupted is put together. */
function callsIn(trace: string): Call[] {
  const unfinished = new Map<string, string>();
  const calls: Call[] = [];
  for (const line of trace.split('\n')) {
    const [, pid, rest] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    if (!pid || !rest) continue;
    const begun = /^(.*) <unfinished \.\.\.>$/.exec(rest);
    if (begun) {
      unfinished.set(pid, begun[1]!);
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest);
    const whole = resumed ? `${unfinished.get(pid)}${resumed[1]}` : rest;
    const call = /^(\w+)\((.*)\)\s+= \d/.exec(whole);
    if (call) calls.push({ name: call[1]!, args: call[2]! });
  }
  return calls;
}

const isSync = ({ name }: Call): boolean => name === 'fsync' || name === 'fdatasync';
const isAnswer = ({ name, args }: Call): boolean => /^(write|writev|sendmsg)$/.test(name) && /^\d+<TCP:/.test(args);

it.skipIf(!traceable)(
  'answers a produce only after segment, link, folder and commit are on disk (needs strace)',
  { timeout: 60_000 },
  async () => {
    const data = join(folder, 'data');
    const traceFile = join(folder, 'trace');
    const calls = 'trace=fsync,fdatasync,link,linkat,write,writev,sendmsg';
    const strace = ['strace', '-f', '-yy', '--seccomp-bpf', '-e', calls, '-o', traceFile];
    const host = await HostProcess.start({ data, command: [...strace, process.execPath, 'dist/cli.js', 'serve'] });
    const pid = Number(readFileSync(join(data, 'shoal.pid'), 'utf8'));
    try {
      using client = await WireClient.connect(parseEndpoint(host.address));
      await client.call(metadata, 9, { topics: [{ name: 't' }] });
      const partitionData = [{ index: 0, records: [plainBatch(10, 100)] }];
      const answer = await client.call(produce, 9, {
        acks: -1,
        timeoutMs: 30_000,
        topicData: [{ name: 't', partitionData }],
      });
      expect(answer.responses[0]!.partitionResponses).toMatchObject([{ errorCode: 0, baseOffset: 0n }]);
    } finally {
      process.kill(pid, 'SIGTERM');
      await host.exited();
    }

    const traced = callsIn(readFileSync(traceFile, 'utf8'));
    const answers = traced.flatMap((call, index) => (isAnswer(call) ? [index] : []));
    expect(answers).toHaveLength(2);
    const [metadataAnswer, produceAnswer] = answers as [number, number];
    const between = traced.slice(metadataAnswer + 1, produceAnswer);
    const position = (what: string, matches: (call: Call) => boolean): number => {
      const index = between.findIndex(matches);
      expect(index, `${what} comes between the two answers`).toBeGreaterThanOrEqual(0);
      return index;
    };
    const steps = [
      position('fsync of the segment', (call) => isSync(call) && call.args.includes('/segments/.tmp/')),
      position('link to its name', ({ name, args }) => /^link(at)?$/.test(name) && args.includes('/segments/.tmp/')),
      position('fsync of the folder', (call) => isSync(call) && /\/segments\/[^.>]+>$/.test(call.args)),
      position('fsync of the log', (call) => isSync(call) && call.args.endsWith('/coordinator.db-wal>')),
    ];
    expect(steps).toEqual([...steps].sort((a, b) => a - b));
  },
);
