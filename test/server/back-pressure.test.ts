/** Producers faster than the storage: the host's memory stays flat, they are held back at their sockets, consumers go on. */
import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { decodeResponse } from '../../src/protocol/frames.ts';
import { fetch } from '../../src/protocol/messages/fetch.ts';
import { metadata } from '../../src/protocol/messages/metadata.ts';
import { produce } from '../../src/protocol/messages/produce.ts';
import { plainBatch } from '../support/record-batches.ts';
import type { BlockedHostCommand, BlockedHostReport } from './blocked-host.ts';
import { WireClient } from './wire-client.ts';

const MIB = 1024 * 1024;
const PRODUCERS = 4;
const BATCHES_EACH = 32;
/** What all producers want to send: eight times what the host may hold of it. */
const BATCH = plainBatch(8, 128 * 1024 - 128, { baseTimestamp: BigInt(Date.now()) });
const TOTAL_BYTES = PRODUCERS * BATCHES_EACH * BATCH.length;

let host: ChildProcess;
beforeAll(() => {
  host = fork(fileURLToPath(new URL('blocked-host.ts', import.meta.url)), { execArgv: ['--import', 'tsx'] });
});
afterAll(() => host.disconnect());

const nextReport = () => new Promise<BlockedHostReport>((resolve) => host.once('message', resolve));
const tell = (command: BlockedHostCommand): Promise<BlockedHostReport> => {
  const report = nextReport();
  host.send(command);
  return report;
};
const topicData = (index: number) => [{ name: 't', partitionData: [{ index, records: [BATCH] }] }];
const aProduce = (index: number) => ({ acks: -1, timeoutMs: 60_000, topicData: topicData(index) });

/** Reports until producers are held back and nothing moves any more. */
async function settled(clients: readonly WireClient[]): Promise<BlockedHostReport> {
  const unsent = () => clients.reduce((sum, { socket }) => sum + socket.writableLength, 0);
  for (let before = -1; ; ) {
    await pause(250);
    const report = await tell('report');
    const now = report.requestBytes + report.bufferedBytes + unsent();
    if (now === before && report.connectionsHeldBack > 0) return report;
    before = now;
  }
}

it('stays flat and holds producers back, while a consumer goes on', async () => {
  const endpoint = await nextReport();
  const consumer = await WireClient.connect(endpoint);
  await consumer.call(metadata, 9, { topics: [{ name: 't' }] });
  const first = await consumer.call(produce, 9, aProduce(0));
  expect(first.responses[0]!.partitionResponses[0]!.errorCode).toBe(0);
  const before = await tell('block');

  const producers = await Promise.all(Array.from({ length: PRODUCERS }, () => WireClient.connect(endpoint)));
  for (const producer of producers) for (let i = 0; i < BATCHES_EACH; i++) producer.send(produce, 9, aProduce(0));
  const blocked = await settled(producers);
  expect(TOTAL_BYTES).toBeGreaterThan(125 * MIB);
  expect(blocked.residentBytes - before.residentBytes).toBeLessThan(48 * MIB);
  expect(blocked.requestBytes).toBeLessThan(8 * MIB + PRODUCERS * 2 * MIB);
  expect(blocked.bufferedBytes).toBeLessThanOrEqual(8 * MIB);
  expect(blocked.connectionsHeldBack).toBeGreaterThan(0);
  for (const { socket } of producers) expect(socket.writableLength).toBeGreaterThan(16 * MIB);

  const partitions = [{ partition: 0, fetchOffset: 0n, partitionMaxBytes: 4 * MIB }];
  for (let i = 0; i < 20; i++) {
    const { responses } = await consumer.call(fetch, 11, {
      maxWaitMs: 0,
      minBytes: 0,
      topics: [{ topic: 't', partitions }],
    });
    expect(responses[0]!.partitions[0]!.records!.length).toBe(BATCH.length);
    await consumer.call(metadata, 9, { topics: [] });
  }

  await tell('unblock');
  for (const producer of producers) {
    for (let i = 0; i < BATCHES_EACH; i++) {
      const { body } = decodeResponse(produce, 9, (await producer.nextFrame())!);
      expect(body.responses[0]!.partitionResponses[0]!.errorCode).toBe(0);
    }
  }
  const { responses } = await consumer.call(fetch, 11, {
    maxWaitMs: 0,
    minBytes: 0,
    topics: [{ topic: 't', partitions }],
  });
  expect(responses[0]!.partitions[0]!.highWatermark).toBe(BigInt(8 * (1 + PRODUCERS * BATCHES_EACH)));
  for (const client of [consumer, ...producers]) client.socket.destroy();
});
