/** What happens to topics besides producing: records are deleted, topics made again, partitions read from their start. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Errors } from '../../../src/common/errors.ts';
import { type Random, randomInt } from '../../../src/common/random.ts';
import type { Ledger } from './ledger.ts';
import { produceIdempotently } from './producers.ts';
import type { Stage } from './stage.ts';

export async function deleteRecords(stage: Stage, random: Random, targets: () => readonly Ledger[]): Promise<void> {
  while (!stage.stopping) {
    await sleep(randomInt(random, 100, 500));
    const all = targets();
    const ledger = all[randomInt(random, 0, all.length - 1)]!;
    if (ledger.lastAcknowledged < 10n) continue;
    const beforeOffset = (ledger.lastAcknowledged * BigInt(randomInt(random, 1, 9))) / 10n;
    try {
      const broker = stage.any(random);
      const { error, lowWatermark } = await broker.call('deleteRecords', { of: ledger.of, beforeOffset });
      if (error !== 0) continue;
      stage.counts.recordsDeletions += 1;
      if (lowWatermark > ledger.deletedBelow) ledger.deletedBelow = lowWatermark;
      const { error: below } = await broker.call('fetch', { of: ledger.of, offset: lowWatermark - 1n, maxWaitMs: 0 });
      if (below === 0) stage.fault(`${ledger.name}: ${lowWatermark - 1n} was read after it had been deleted`);
    } catch {
      // Whether it was done is not known.
    }
  }
}

/** Follows a partition from its start, through whichever broker. */
export async function follow(
  stage: Stage,
  random: Random,
  ledger: Ledger,
  end: () => bigint | undefined,
): Promise<void> {
  let next = 0n;
  for (;;) {
    const upTo = end();
    if (upTo !== undefined && next >= upTo) return;
    try {
      const answer = await stage.any(random).call('fetch', { of: ledger.of, offset: next, maxWaitMs: 500 });
      stage.counts.fetches += 1;
      if (answer.error === Errors.OFFSET_OUT_OF_RANGE) {
        if (answer.logStartOffset < next) stage.fault(`${ledger.name}: ${next} is said to be beyond the end`);
        next = answer.logStartOffset;
      }
      for (const { offset, value } of answer.records) {
        if (offset < next) continue;
        if (offset !== next) stage.fault(`${ledger.name}: ${next} is followed by ${offset}`);
        ledger.see(offset, value);
        stage.counts.recordsRead += 1;
        next = offset + 1n;
      }
      if (answer.error !== Errors.NONE && answer.error !== Errors.OFFSET_OUT_OF_RANGE) await sleep(50);
    } catch {
      await sleep(50);
    }
  }
}

export async function remakeTopics(stage: Stage, random: Random): Promise<void> {
  while (!stage.stopping) {
    const made = await stage.create(random, 'volatile', 2, { 'retention.ms': '-1' });
    let ended = false;
    const producing = produceIdempotently(
      stage,
      random,
      () => made,
      () => ended,
    );
    await sleep(randomInt(random, 300, 1_500));
    ended = true;
    const { topicId } = made[0]!.of;
    for (;;) {
      const { error } = await stage.ask(random, 'deleteTopic', { topicId });
      if (error === Errors.NONE || error === Errors.UNKNOWN_TOPIC_ID) break;
    }
    stage.counts.topicsDeleted += 1;
    await producing;
  }
}

/** One more partition every other second. */
export async function grow(stage: Stage, random: Random, grown: Ledger[]): Promise<void> {
  const { topicId } = grown[0]!.of;
  while (!stage.stopping) {
    await sleep(2_000);
    const partitions = grown.length + 1;
    const { error } = await stage.ask(random, 'createPartitions', { topicId, partitions });
    // An attempt whose answer was lost may have done it.
    if (error !== Errors.NONE && error !== Errors.INVALID_PARTITIONS) continue;
    grown.push(...stage.addLedgers(topicId, partitions).slice(grown.length));
    stage.counts.partitionsAdded += 1;
  }
}
