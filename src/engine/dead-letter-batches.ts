/**
 * Puts dead letters into record batches for the partitions that they go to (KIP-1191). As in Kafka, what came from one
 * partition lies in one. Pure, but for the clock.
 */
import type { Time } from '../common/time.ts';
import { partitionKey, type TopicIdPartition } from '../common/topic-id-partition.ts';
import { RecordBatchBuilder } from '../record/record-batch-builder.ts';
import type { RecordContent } from '../record/record-reader.ts';
import { type DeadLetterRecord, encodeDeadLetter } from './dead-letter-record.ts';
import type { DeadLetterTopic } from './dead-letter-topics.ts';

export interface Addressed<L extends DeadLetterRecord> {
  readonly letter: L;
  readonly topic: DeadLetterTopic;
  /** The source record, when the group wants it and it is to be had. */
  readonly content?: RecordContent | undefined;
}

/** A batch to append, and what is in it. */
export interface DeadLetterBatch<L extends DeadLetterRecord> {
  readonly topicIdPartition: TopicIdPartition;
  readonly records: Uint8Array;
  readonly letters: readonly L[];
}

export interface DeadLetterBatchOptions {
  readonly time: Time;
  readonly crc32c: (bytes: Uint8Array) => number;
  /** The source topic's name, for the header; undefined when it is gone. */
  topicName(of: TopicIdPartition): string | undefined;
}

/** Batches by target partition, in the order of the letters, each of at most its topic's `max.message.bytes`. */
export function deadLetterBatches<L extends DeadLetterRecord>(
  addressed: readonly Addressed<L>[],
  options: DeadLetterBatchOptions,
): DeadLetterBatch<L>[] {
  const byTarget = new Map<string, { readonly of: TopicIdPartition; readonly addressed: Addressed<L>[] }>();
  for (const one of addressed) {
    const { topicId, partitions } = one.topic;
    const of = { topicId, partition: one.letter.topicIdPartition.partition % partitions };
    const target = byTarget.get(partitionKey(of)) ?? { of, addressed: [] };
    byTarget.set(partitionKey(of), target);
    target.addressed.push(one);
  }
  return [...byTarget.values()].flatMap((target) => fill(target.of, target.addressed, options));
}

function fill<L extends DeadLetterRecord>(
  topicIdPartition: TopicIdPartition,
  addressed: readonly Addressed<L>[],
  { time, crc32c, topicName }: DeadLetterBatchOptions,
): DeadLetterBatch<L>[] {
  const full: { readonly builder: RecordBatchBuilder; readonly letters: L[] }[] = [];
  for (const { letter, topic, content } of addressed) {
    const name = topicName(letter.topicIdPartition) ?? letter.topicIdPartition.topicId;
    const record = encodeDeadLetter(letter, name, content);
    if (full.at(-1)?.builder.tryAdd(record, topic.maxMessageBytes)) {
      full.at(-1)!.letters.push(letter);
      continue;
    }
    const builder = new RecordBatchBuilder(time.nowMs());
    // Too large with its content, it goes with its headers alone; if that is too much, the append refuses it.
    if (!builder.tryAdd(record, topic.maxMessageBytes)) {
      builder.tryAdd({ ...record, key: null, value: null }, Number.POSITIVE_INFINITY);
    }
    full.push({ builder, letters: [letter] });
  }
  return full.map(({ builder, letters }) => ({ topicIdPartition, records: builder.build(crc32c), letters }));
}
