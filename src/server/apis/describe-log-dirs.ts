/**
 * DescribeLogDirs: one directory that stands for the object storage, with what each partition takes of it. How much fits
 * into it nobody knows.
 */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import type { TopicDescription } from '../../coordinator/topic-store.ts';
import { answered } from '../../engine/coordinator-failure.ts';
import type { TopicIndex } from '../../group/topic-index.ts';
import type { RequestOf, ResponseOf } from '../../protocol/api.ts';
import { describeLogDirs } from '../../protocol/messages/describe-log-dirs.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import type { Broker } from '../broker.ts';
import { LOG_DIR } from '../configs/broker-configs.ts';

type Request = RequestOf<typeof describeLogDirs>;
type LogDir = ResponseOf<typeof describeLogDirs>['results'][number];

interface Asked {
  readonly topic: TopicDescription;
  /** Undefined for all. */
  readonly partitions: ReadonlySet<number> | undefined;
}

export function describeLogDirsHandler(broker: Broker): ApiHandler {
  return apiHandler<typeof describeLogDirs>({
    api: describeLogDirs,

    async handle({ topics }) {
      const asked = askedFor(topics, await broker.topics.view());
      const sizes = await answered(broker.coordinator.logSizes(asked.map(({ topic }) => topic.topicId)));
      return {
        errorCode: Errors.NONE,
        results: [
          logDir(
            Errors.NONE,
            asked.map((one, index) => described(one, sizes[index] ?? [])),
          ),
        ],
      };
    },

    errorResponse: (errorCode) => ({ errorCode, results: [logDir(errorCode, [])] }),
  });
}

/** What there is not is left out, as Kafka does. */
function askedFor(topics: Request['topics'], index: TopicIndex): Asked[] {
  if (topics === null) return index.all.map((topic) => ({ topic, partitions: undefined }));
  const partitionsByName = new Map<string, Set<number>>();
  for (const { topic, partitions } of topics) {
    const known = partitionsByName.get(topic) ?? new Set();
    for (const partition of partitions) known.add(partition);
    partitionsByName.set(topic, known);
  }
  return [...partitionsByName].flatMap(([name, partitions]) => {
    const topic = index.byName(name);
    return topic ? [{ topic, partitions }] : [];
  });
}

function described({ topic, partitions }: Asked, sizes: readonly bigint[]): LogDir['topics'][number] {
  const all = sizes.map((partitionSize, partitionIndex) => ({
    partitionIndex,
    partitionSize,
    offsetLag: 0n,
    isFutureKey: false,
  }));
  return {
    name: topic.name,
    partitions: partitions ? all.filter(({ partitionIndex }) => partitions.has(partitionIndex)) : all,
  };
}

function logDir(errorCode: ErrorCode, topics: LogDir['topics']): LogDir {
  return { errorCode, logDir: LOG_DIR, topics };
}
