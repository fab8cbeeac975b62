/** Partitions of a topic, as messages of groups name them. */
import { arrayOf, int32, string, uuid } from '../schema.ts';

export const topicPartitions = { topicId: uuid('0+'), partitions: arrayOf(int32, '0+') };

export const namedTopicPartitions = {
  topicId: uuid('0+'),
  topicName: string('0+'),
  partitions: arrayOf(int32, '0+'),
};
