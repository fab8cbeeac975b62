/** `shoal explain` over a real data folder, in this process. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openComponents } from '../../src/cli/components.ts';
import { openEngine } from '../../src/engine/engine.ts';
import { plainBatch } from '../support/record-batches.ts';
import { shoal } from './support/run-shoal.ts';

const data = mkdtempSync(join(tmpdir(), 'shoal-explain-'));

beforeAll(async () => {
  const components = await openComponents({ data, storage: undefined, coordinator: undefined });
  const engine = await openEngine(components, { workerThreads: 0, produceCommitIntervalMs: 1 });
  const [topic] = await engine.createTopics([{ name: 'orders', partitions: 2 }]);
  const topicIdPartition = { topicId: topic!.topicId, partition: 1 };
  for (let i = 0; i < 2; i++) {
    const [result] = await engine.append([{ topicIdPartition, records: plainBatch(10, 100) }]);
    expect(result!.error).toBe(0);
  }
  const local = await engine.explainFetch({ topicIdPartition, fetchOffset: 0n });
  expect(local).toMatchObject({ decision: 'local', highWatermark: 20n });
  await engine.close();
  await components.close();
});

afterAll(() => rmSync(data, { recursive: true }));
describe('shoal explain', () => {
  it('explains a fetch in words', async () => {
    const { code, out } = await shoal('explain', 'orders', '1', '0', '--data', data);
    expect(code).toBe(0);
    expect(out).toContain('fetch of orders-1 from offset 0, at most 1.0 MiB: direct');
    expect(out).toContain('plan: 2 GETs');
    expect(out).toContain('log: start 0, high watermark 20');
    expect(out).toMatch(/predicted: 0\.\d ms, no charge\n/);
  });

  it('predicts nothing where nothing would be read', async () => {
    const { code, out } = await shoal('explain', 'orders', '1', '21', '--data', data);
    expect(code).toBe(0);
    expect(out).toContain('from offset 21, at most 1.0 MiB: error');
    expect(out).not.toContain('predicted');
  });

  it('prints JSON with the prices asked for', async () => {
    const flags = ['--data', data, '--json', '--price-per-1000-gets', '500', '--price-per-gib', '0'];
    const { code, out } = await shoal('explain', 'orders', '1', '15', ...flags);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      topic: 'orders',
      decision: 'direct',
      fetchOffset: '15',
      highWatermark: '20',
      objects: 1,
      predictedDollars: 0.5,
    });
  });

  it.each([
    [['explain', 'orders', '1'], 2, 'TOPIC, PARTITION and OFFSET are needed'],
    [['explain', 'orders', '1', '-5'], 2, 'OFFSET is -5'],
    [['explain', 'orders', '1', '9223372036854775808'], 2, 'a number from 0 to 9223372036854775807 is needed'],
    [['explain', 'orders', 'x', '0'], 2, 'PARTITION is x'],
    [['explain', 'order', '1', '0'], 1, 'no topic is called order; did you mean orders?'],
    [['explain', 'orders', '2', '0'], 1, 'orders has partitions 0 to 1; there is no 2'],
    [['explain', 'orders', '1', '0', '--max-bytes', 'much'], 2, '--max-bytes is much'],
  ] as const)('%j: exit code %i, %s', async (args, expected, message) => {
    const { code, err } = await shoal(...args, '--data', data);
    expect([code, err]).toEqual([expected, expect.stringContaining(message)]);
  });

  it('does not make a data folder where there is none', async () => {
    const nowhere = join(data, 'nowhere');
    const { code, err } = await shoal('explain', 'orders', '1', '0', '--data', nowhere);
    expect([code, err]).toEqual([1, expect.stringContaining('is no data folder')]);
    expect(existsSync(nowhere)).toBe(false);
  });
});
