/** Creating, changing and deleting topics: Kafka's checks, then the coordinator. Main thread; holds no state of its own. */
import type { ConfigChanges, Configs } from '../common/config-definition.ts';
import { standingTwice } from '../common/duplicates.ts';
import { type ErrorCode, Errors } from '../common/errors.ts';
import type { Random } from '../common/random.ts';
import { normalizedTopicConfigs, topicConfigProblem } from '../common/topic-config.ts';
import { collisionKey, topicNameProblem } from '../common/topic-name.ts';
import { randomUuid, type Uuid, ZERO_UUID } from '../common/uuid.ts';
import type { DisklessCoordinator } from '../coordinator/diskless-coordinator.ts';
import type { CreateTopicRequest, TopicDescription } from '../coordinator/topic-store.ts';
import { answered } from './coordinator-failure.ts';
import type { NewTopic } from './diskless-engine.ts';

export const MAX_PARTITIONS_PER_TOPIC = 50_000;

export interface CreateTopicResult {
  readonly error: ErrorCode;
  /** "" when nothing is wrong. */
  readonly message: string;
  /** All zeros with an error. */
  readonly topicId: Uuid;
}

export interface TopicConfigChanges {
  readonly topicId: Uuid;
  /** A value sets, null removes. */
  readonly changes: ConfigChanges;
}

interface Refusal {
  readonly error: ErrorCode;
  readonly message: string;
}

/** Creates each topic whole or not at all; result i belongs to topic i. With `validateOnly` nothing is created. */
export async function createTopics(
  coordinator: DisklessCoordinator,
  random: Random,
  topics: readonly NewTopic[],
  validateOnly: boolean,
): Promise<CreateTopicResult[]> {
  const refusals = (await refusalsOf(coordinator, topics)).map(
    (refusal) => refusal && { ...refusal, topicId: ZERO_UUID },
  );
  if (validateOnly) return refusals.map((refusal) => refusal ?? { ...NO_ERROR, topicId: ZERO_UUID });
  return unlessRefused(topics, refusals, async (accepted): Promise<CreateTopicResult[]> => {
    const requests = accepted.map((topic) => createRequest(topic, random));
    const created = await answered(coordinator.createTopics(requests));
    return requests.map(({ topicId, name }, index) => {
      const { error } = created[index]!;
      return error === Errors.NONE
        ? { ...NO_ERROR, topicId }
        : { error, message: `topic ${name} was not created`, topicId: ZERO_UUID };
    });
  });
}

const NO_ERROR: Refusal = { error: Errors.NONE, message: '' };

function createRequest({ name, partitions, configs = {} }: NewTopic, random: Random): CreateTopicRequest {
  return { topicId: randomUuid(random), name, partitions, configs: normalizedTopicConfigs(configs) };
}

/** Has done what is not refused, all at once; to each request its refusal, or what became of it. */
async function unlessRefused<R, A>(
  requests: readonly R[],
  refusals: readonly (A | undefined)[],
  perform: (accepted: readonly R[]) => Promise<readonly A[]>,
): Promise<A[]> {
  const accepted = requests.filter((_, index) => !refusals[index]);
  const results = accepted.length === 0 ? [] : await perform(accepted);
  let next = 0;
  return refusals.map((refusal) => refusal ?? results[next++]!);
}

async function refusalsOf(
  coordinator: DisklessCoordinator,
  topics: readonly NewTopic[],
): Promise<(Refusal | undefined)[]> {
  const existing = await answered(coordinator.listTopics());
  const names = new Set(existing.map(({ name }) => name));
  const collisions = new Map(existing.map(({ name }) => [collisionKey(name), name]));
  const twice = standingTwice(topics.map(({ name }) => name));
  return topics.map((topic) => {
    if (twice.has(topic.name)) return refuse('INVALID_REQUEST', `topic ${topic.name} stands twice in the request`);
    const problem = topicProblem(topic);
    if (problem) return problem;
    if (names.has(topic.name)) return refuse('TOPIC_ALREADY_EXISTS', `topic ${topic.name} exists already`);
    const key = collisionKey(topic.name);
    const other = collisions.get(key);
    collisions.set(key, topic.name);
    return other === undefined
      ? undefined
      : refuse(
          'INVALID_TOPIC_EXCEPTION',
          `topic ${topic.name} collides with ${other}: they differ only in '.' and '_'`,
        );
  });
}

function topicProblem({ name, partitions, configs = {} }: NewTopic): Refusal | undefined {
  const nameProblem = topicNameProblem(name);
  if (nameProblem !== undefined) return refuse('INVALID_TOPIC_EXCEPTION', nameProblem);
  if (!Number.isInteger(partitions) || partitions < 1 || partitions > MAX_PARTITIONS_PER_TOPIC) {
    return refuse(
      'INVALID_PARTITIONS',
      `${partitions} partitions asked for; 1 to ${MAX_PARTITIONS_PER_TOPIC} are allowed`,
    );
  }
  return configRefusal(configs);
}

function configRefusal(configs: Configs): Refusal | undefined {
  const problem = topicConfigProblem(configs);
  return problem === undefined ? undefined : refuse('INVALID_CONFIG', problem);
}

function refuse(error: keyof typeof Errors, message: string): Refusal {
  return { error: Errors[error], message };
}

export interface NewPartitions {
  readonly topicId: Uuid;
  /** How many there shall be, those that exist included. */
  readonly partitions: number;
}

/** Gives topics more partitions; result i belongs to request i. With `validateOnly` nothing is created. */
export async function createPartitions(
  coordinator: DisklessCoordinator,
  requests: readonly NewPartitions[],
  validateOnly: boolean,
): Promise<Refusal[]> {
  const topics = new Map((await answered(coordinator.listTopics())).map((topic) => [topic.topicId, topic]));
  const refusals = requests.map((request) => growthProblem(topics.get(request.topicId), request));
  if (validateOnly) return refusals.map((refusal) => refusal ?? NO_ERROR);
  return unlessRefused(requests, refusals, async (accepted) => {
    const created = await answered(coordinator.createPartitions(accepted));
    return created.map(({ error }, index) => createdOr(error, accepted[index]!));
  });
}

function growthProblem(topic: TopicDescription | undefined, { topicId, partitions }: NewPartitions) {
  if (!topic) return refuse('UNKNOWN_TOPIC_OR_PARTITION', `there is no topic with id ${topicId}`);
  const has = `topic ${topic.name} has ${topic.partitions} partitions`;
  if (partitions === topic.partitions) return refuse('INVALID_PARTITIONS', `${has} already`);
  if (partitions < topic.partitions)
    return refuse('INVALID_PARTITIONS', `${has}; ${partitions} would be fewer, and their number can only grow`);
  if (Number.isInteger(partitions) && partitions <= MAX_PARTITIONS_PER_TOPIC) return undefined;
  return refuse('INVALID_PARTITIONS', `${has}; at most ${MAX_PARTITIONS_PER_TOPIC} are allowed, not ${partitions}`);
}

/** Another broker may have been faster. */
function createdOr(error: ErrorCode, { partitions }: NewPartitions): Refusal {
  if (error === Errors.NONE) return NO_ERROR;
  return { error, message: `the topic was deleted or has ${partitions} partitions or more by now` };
}

/** Deletes topics; result i belongs to id i. */
export async function deleteTopics(coordinator: DisklessCoordinator, topicIds: readonly Uuid[]): Promise<Refusal[]> {
  const results = await answered(coordinator.deleteTopics(topicIds));
  return results.map(({ error }, index) => unknownTopicOr(error, topicIds[index]!));
}

/** Changes configs, each topic's all or none; result i belongs to request i. */
export async function alterTopicConfigs(
  coordinator: DisklessCoordinator,
  requests: readonly TopicConfigChanges[],
): Promise<Refusal[]> {
  const refusals = requests.map(({ changes }) => configRefusal(withoutRemoved(changes)));
  return unlessRefused(requests, refusals, async (accepted) => {
    const results = await answered(coordinator.alterTopicConfigs(accepted.map(normalized)));
    return results.map(({ error }, index) => unknownTopicOr(error, accepted[index]!.topicId));
  });
}

function normalized({ topicId, changes }: TopicConfigChanges): TopicConfigChanges {
  return { topicId, changes: { ...changes, ...normalizedTopicConfigs(withoutRemoved(changes)) } };
}

function withoutRemoved(changes: ConfigChanges): Configs {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== null)) as Configs;
}

function unknownTopicOr(error: ErrorCode, topicId: Uuid): Refusal {
  return { error, message: error === Errors.NONE ? '' : `there is no topic with id ${topicId}` };
}
