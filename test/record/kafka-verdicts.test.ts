/** The kernel's verdicts against those of a real broker, Apache Kafka 4.4, over the same bytes and configs. */
import { beforeAll, describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import type { BatchVerdict } from '../../src/record/batch-verdict.ts';
import { type OracleParts, validateRecordBatch } from '../../src/record/record-batch.ts';
import { type KafkaVerdict, readVerdicts } from '../fixtures/kafka-verdicts/verdicts.ts';
import { oracleParts, TestKernel } from '../support/test-kernel.ts';

let test: TestKernel;
let parts: OracleParts;
beforeAll(async () => {
  test = new TestKernel();
  parts = await oracleParts();
});

const { NONE, CORRUPT_MESSAGE, INVALID_RECORD } = Errors;
const REFUSES_BYTES: readonly number[] = [CORRUPT_MESSAGE, INVALID_RECORD];

/** Attributes bit 3, LogAppendTime, in what the producer sent. */
const claimsAppendTime = ({ records }: KafkaVerdict): boolean => (records[22]! & 8) !== 0;
const badOf = ({ recordErrors }: BatchVerdict): number[] => recordErrors.map(({ batchIndex }) => batchIndex);

function isSame(kafka: KafkaVerdict, ours: BatchVerdict): boolean {
  if (kafka.error !== ours.error || String(kafka.badRecords) !== String(badOf(ours))) return false;
  return kafka.maxTimestamp === undefined || kafka.maxTimestamp === ours.maxTimestamp;
}

function textOf(kafka: KafkaVerdict, ours: BatchVerdict): string {
  const theirs = `${kafka.error}, bad ${kafka.badRecords}, max ${kafka.maxTimestamp}`;
  return `Kafka ${theirs}; ours ${ours.error}, bad ${badOf(ours)}, max ${ours.maxTimestamp}, ${ours.message}: ${kafka.records.toString('base64')}`;
}

/** Where ours is another on purpose. */
const DIFFERENCES: Readonly<Record<string, (kafka: KafkaVerdict, ours: BatchVerdict) => boolean>> = {
  'an error of Kafka itself: the bytes are named as the cause': (kafka, ours) =>
    kafka.error === -1 && REFUSES_BYTES.includes(ours.error),
  'an error of Kafka itself: inner offsets are put in order': (kafka, ours) =>
    kafka.error === -1 && ours.error === NONE && ours.rebuilt !== undefined,
  'a malformed record is named by its index': (kafka, ours) =>
    kafka.error === INVALID_RECORD && ours.error === INVALID_RECORD && kafka.badRecords.length === 0,
  'what is malformed is found before times and keys': (kafka, ours) =>
    kafka.badRecords.length > 0 && REFUSES_BYTES.includes(ours.error) && !/timestamp|need a key/.test(ours.message),
  'Kafka stores what its consumers cannot read, and does not look at producer epochs': (kafka, ours) =>
    kafka.error === NONE && REFUSES_BYTES.includes(ours.error),
  'under bit 3, which no client sets, Kafka takes the claimed max timestamp for that of every record': (kafka) =>
    claimsAppendTime(kafka),
};

describe('Apache Kafka’s verdicts', () => {
  it('are ours, but for differences on purpose', () => {
    const verdicts = readVerdicts();
    expect(verdicts.length).toBeGreaterThan(600);
    const counts = new Map<string, number>();
    const unexplained: string[] = [];
    for (const kafka of verdicts) {
      const ours = test.validate(kafka.records, kafka.options);
      const rule = isSame(kafka, ours) ? 'same' : Object.entries(DIFFERENCES).find(([, on]) => on(kafka, ours))?.[0];
      if (rule === undefined) unexplained.push(textOf(kafka, ours));
      else counts.set(rule, (counts.get(rule) ?? 0) + 1);
    }
    expect(unexplained).toEqual([]);
    expect(counts.get('same')).toBeGreaterThan(verdicts.length * 0.7);
    expect([...counts.keys()].sort()).toEqual(['same', ...Object.keys(DIFFERENCES)].sort());
  });

  it('differ from ours only where the oracle, too, finds the bytes wrong', () => {
    let stricter = 0;
    for (const kafka of readVerdicts()) {
      const ours = test.validate(kafka.records, kafka.options);
      if (kafka.error !== NONE || ours.error === NONE) continue;
      stricter++;
      expect(validateRecordBatch(kafka.records, kafka.options, parts).error).toBe(ours.error);
    }
    expect(stricter).toBeGreaterThan(0);
  });
});
