/** Producers: idempotent ones, which repeat a batch until it is acknowledged, wherever, and others, which send it once. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Errors } from '../../../src/common/errors.ts';
import { type Random, randomInt } from '../../../src/common/random.ts';
import { buildBatch } from '../../support/record-batches.ts';
import type { Ledger } from './ledger.ts';
import type { Stage } from './stage.ts';

interface Plan {
  readonly ledger: Ledger;
  readonly values: string[];
  readonly records: Uint8Array;
}

function plan(
  stage: Stage,
  random: Random,
  ledger: Ledger,
  producer: { id: bigint; sequence: number } | undefined,
): Plan {
  const values = Array.from({ length: randomInt(random, 1, 4) }, () => `v${stage.counts.valuesMade++}`);
  const timestamp = random.next() < 0.05 ? -1 : Date.now() - randomInt(random, 0, 60_000);
  const records = buildBatch({
    records: values.map((value, i) => ({ value, timestampDelta: timestamp < 0 ? 0 : (i * 7) % 3 })),
    baseTimestamp: BigInt(timestamp),
    maxTimestamp: BigInt(timestamp < 0 ? -1 : timestamp + Math.max(...values.map((_, i) => (i * 7) % 3))),
    ...(producer && { producerId: producer.id, producerEpoch: 0, baseSequence: producer.sequence }),
  });
  return { ledger, values, records };
}

const toAppend = (plans: readonly Plan[]) => ({
  partitions: plans.map(({ ledger, records }) => ({ of: ledger.of, records })),
  timeoutMs: 5_000,
});

/** Sends one batch after another to each partition, each until it is acknowledged, to whichever broker. */
export async function produceIdempotently(
  stage: Stage,
  random: Random,
  targets: () => readonly Ledger[],
  ended: () => boolean,
) {
  const [id] = (await stage.ask(random, 'producerIds', null)) as [bigint];
  const sequences = new Map<Ledger, number>();
  while (!ended()) {
    const all = targets();
    const chosen = all.filter(() => random.next() < 0.6);
    let plans = chosen.map((ledger) =>
      plan(stage, random, ledger, { id, sequence: sequences.get(ledger) ?? 2 ** 31 - 20 }),
    );
    const first = plans;
    while (plans.length > 0) {
      const left: Plan[] = [];
      try {
        const results = await stage.any(random).call('append', toAppend(plans));
        for (const [i, { error, baseOffset }] of results.entries()) {
          const one = plans[i]!;
          if (error === 0) {
            one.ledger.acknowledge(baseOffset, one.values);
            stage.counts.acknowledgedBatches += 1;
          } else if (error === Errors.OUT_OF_ORDER_SEQUENCE_NUMBER || error === Errors.INVALID_PRODUCER_EPOCH) {
            stage.fault(`${one.ledger.name}: producer ${id} was refused with ${error}`);
          } else if (error !== Errors.UNKNOWN_TOPIC_OR_PARTITION || !ended()) left.push(one);
        }
      } catch {
        left.push(...plans);
      }
      plans = left;
      if (plans.length > 0) {
        stage.counts.retries += 1;
        if (stage.faults.length > 0) return;
        await sleep(randomInt(random, 1, 40));
      }
    }
    for (const { ledger, values } of first) {
      sequences.set(ledger, ((sequences.get(ledger) ?? 2 ** 31 - 20) + values.length) % 2 ** 31);
    }
    if (first.length > 0 && random.next() < 0.2) await askDuplicate(stage, random, first, ended);
  }
}

async function askDuplicate(stage: Stage, random: Random, plans: readonly Plan[], ended: () => boolean): Promise<void> {
  try {
    const results = await stage.any(random).call('append', toAppend(plans));
    stage.counts.duplicatesAsked += 1;
    for (const [i, { error, baseOffset }] of results.entries()) {
      if (error === 0) plans[i]!.ledger.acknowledge(baseOffset, plans[i]!.values);
      else if (error === Errors.OUT_OF_ORDER_SEQUENCE_NUMBER && !ended())
        stage.fault(`${plans[i]!.ledger.name}: a duplicate was refused with ${error}`);
    }
  } catch {
    // Lost with its broker.
  }
}

/** Sends each batch once, and takes note of what was refused for good. */
export async function produceOnce(stage: Stage, random: Random, targets: () => readonly Ledger[]): Promise<void> {
  while (!stage.stopping) {
    const plans = targets()
      .filter(() => random.next() < 0.5)
      .map((ledger) => plan(stage, random, ledger, undefined));
    try {
      if (plans.length === 0) continue;
      const results = await stage.any(random).call('append', toAppend(plans));
      for (const [i, { error, baseOffset }] of results.entries()) {
        const { ledger, values } = plans[i]!;
        if (error === 0) {
          ledger.acknowledge(baseOffset, values);
          stage.counts.acknowledgedBatches += 1;
        } else if (error === Errors.KAFKA_STORAGE_ERROR) {
          stage.counts.refusedBatches += 1;
          for (const value of values) ledger.refused.add(value);
        } else stage.counts.unknownBatches += 1;
      }
    } catch {
      stage.counts.unknownBatches += plans.length;
    } finally {
      await sleep(randomInt(random, 1, 50));
    }
  }
}
