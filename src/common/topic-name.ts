/** Kafka's rules for topic names. Names never reach object keys; they live in the coordinator and in messages only. */

/** Longest legal name, in characters; Kafka's own limit, left by its log folders. */
export const MAX_TOPIC_NAME_LENGTH = 249;

/** What is wrong with a topic name, or undefined when nothing is. */
export function topicNameProblem(name: string): string | undefined {
  if (name === '') return 'the topic name is empty';
  if (name === '.' || name === '..') return `the topic name "${name}" is reserved`;
  if (name.length > MAX_TOPIC_NAME_LENGTH) {
    return `the topic name is ${name.length} characters long; at most ${MAX_TOPIC_NAME_LENGTH} are allowed`;
  }
  if (!/^[A-Za-z0-9._-]+$/.test(name)) {
    return `the topic name ${JSON.stringify(name)} holds a character that is not one of A-Z a-z 0-9 . _ -`;
  }
  return undefined;
}

/** Names that differ only in '.' and '_' collide in Kafka's metric names; both at once are refused. */
export function collisionKey(name: string): string {
  return name.replaceAll('.', '_');
}
