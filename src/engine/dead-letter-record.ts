/** The records of a dead-letter queue (KIP-1191): where a record came from and why it is here. Pure. */
import type { TopicIdPartition } from '../common/topic-id-partition.ts';
import type { NewRecord } from '../record/record-batch-builder.ts';
import type { DeadLetterCause } from '../share/acknowledge.ts';

/** One record that a share group gave up. */
export interface DeadLetterRecord {
  readonly groupId: string;
  readonly topicIdPartition: TopicIdPartition;
  readonly offset: bigint;
  readonly deliveryCount: number;
  readonly cause: DeadLetterCause;
}

/** The texts that Kafka's brokers write: programs read them. */
const MESSAGES: Readonly<Record<DeadLetterCause, string>> = {
  CLIENT_REJECT: 'Offset rejected by client.',
  DELIVERY_COUNT_EXCEEDED: 'Offset delivery count exceeded the threshold.',
};

/** @param content the source record's key and value, when the group wants them and they are to be had */
export function encodeDeadLetter(
  letter: DeadLetterRecord,
  topicName: string,
  content: Pick<NewRecord, 'key' | 'value'> | undefined,
): NewRecord {
  const headers = [
    ['topic', topicName],
    ['partition', letter.topicIdPartition.partition],
    ['offset', letter.offset],
    ['group', letter.groupId],
    ['delivery.count', letter.deliveryCount],
    ['message', MESSAGES[letter.cause]],
  ] as const;
  return {
    key: content?.key ?? null,
    value: content?.value ?? null,
    headers: headers.map(([name, value]) => [`__dlq.errors.${name}`, Buffer.from(String(value))]),
  };
}
