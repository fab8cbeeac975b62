/** Explanations name the right way, and what they predict is what a fetch then does. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { explanationJson, explanationText } from '../../src/fetch/fetch-service.ts';
import { batchOfSize, FetchFixture } from './fetch-fixture.ts';

let fixture: FetchFixture;
let release: (() => void) | undefined;

beforeEach(async () => {
  fixture = await FetchFixture.open({
    settings: { priceDollarsPer1000Gets: 0.0004, expectedFirstByteMs: 20, fetchRequestCostBytes: 1000 },
    beforeGet: () => (release === undefined ? undefined : new Promise<void>((resolve) => (release = resolve))),
  });
  release = undefined;
});

afterEach(() => fixture.close());

describe('explainFetch', () => {
  it('says direct, with the very GETs that the fetch then makes, and local afterwards', async () => {
    const [partition, other] = await fixture.createTopic(2);
    for (let i = 0; i < 3; i++) {
      await fixture.write([
        [partition!, [batchOfSize(2000)]],
        [other!, [batchOfSize(5000)]],
      ]);
    }
    const request = { topicIdPartition: partition!, fetchOffset: 0n };
    const before = await fixture.service.explain(request);
    expect(before).toMatchObject({
      decision: 'direct',
      reason: 'the local view holds nothing of this partition',
      objects: 3,
      wantedBytes: 6000,
      readBytes: 6000,
      wastedBytes: 0,
      highWatermark: 3n,
    });
    expect(fixture.gets).toHaveLength(0);
    expect(before.predictedDollars).toBeCloseTo(3 * 0.0004e-3, 12);
    expect(before.predictedLatencyMs).toBeGreaterThan(20);
    (await fixture.fetch([[partition!, 0n]])).release();
    expect([...fixture.gets].sort((a, b) => (a.objectKey < b.objectKey ? -1 : 1))).toEqual(before.gets);
    const after = await fixture.service.explain(request);
    expect(after).toMatchObject({ decision: 'local', gets: [], localBytes: 6000, predictedLatencyMs: 0 });
    expect(after.local).toEqual({ localLogStart: 0n, localLogEnd: 3n, inSync: true });
  });

  it('says what others have in flight already', async () => {
    const [partition] = await fixture.createTopic(1);
    await fixture.write([[partition!, [batchOfSize(2000)]]]);
    release = () => {};
    const reading = fixture.fetch([[partition!, 0n]]);
    while (fixture.gets.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const explanation = await fixture.service.explain({ topicIdPartition: partition!, fetchOffset: 0n });
    expect(explanation).toMatchObject({ decision: 'direct', inFlightBytes: 2000, gets: [], readBytes: 0 });
    release();
    (await reading).release();
  });

  it('says wait at the end, error beyond it, direct before the local log start', async () => {
    const [partition] = await fixture.createTopic(1);
    await fixture.write([[partition!, [batchOfSize(500)]]]);
    await fixture.writeOwn([[partition!, [batchOfSize(500)]]]);
    const decisionAt = async (fetchOffset: bigint) => {
      const { decision, reason } = await fixture.service.explain({ topicIdPartition: partition!, fetchOffset });
      return [decision, reason];
    };
    expect(await decisionAt(0n)).toEqual(['direct', '0 lies before the local log start 1']);
    expect(await decisionAt(1n)).toEqual(['local', 'all batches are in the local view']);
    expect(await decisionAt(2n)).toEqual(['wait', '2 is the high watermark: the fetch waits for a commit']);
    expect((await decisionAt(3n))[0]).toBe('error');
    const unknown = { topicId: partition!.topicId, partition: 7 };
    const explanation = await fixture.service.explain({ topicIdPartition: unknown, fetchOffset: 0n });
    expect(explanation.reason).toBe('the coordinator answers UNKNOWN_TOPIC_OR_PARTITION');
  });

  it('counts batches before the offset as wasted, and reads well as text and JSON', async () => {
    const [partition] = await fixture.createTopic(1);
    await fixture.write([[partition!, [batchOfSize(1000), batchOfSize(1000)]]]);
    const explanation = await fixture.service.explain({ topicIdPartition: partition!, fetchOffset: 1n });
    expect(explanation).toMatchObject({ wantedBytes: 1000, readBytes: 2000, wastedBytes: 1000 });
    const text = explanationText(explanation);
    expect(text).toContain('from offset 1, at most 1.0 MiB: direct');
    expect(text).toContain('plan: 1 GET\n');
    expect(explanationJson(explanation)).toMatchObject({
      fetchOffset: '1',
      highWatermark: '2',
      errorName: 'NONE',
      gets: [{ position: 1, size: 2000 }],
    });
  });
});
