/** `shoal explain`: what a fetch from an offset would cost, for a person or as JSON. Opens the components, reads no record. */
import { closest } from '../common/closest.ts';
import { ApiError } from '../common/errors.ts';
import type { TopicIdPartition } from '../common/topic-id-partition.ts';
import type { DisklessCoordinator } from '../coordinator/diskless-coordinator.ts';
import { explainFetch, explanationJson, explanationText } from '../fetch/explain-fetch.ts';
import { defaultFetchSettings, fetchSettings } from '../fetch/fetch-settings.ts';
import { CliError, type Command, UsageError } from './command.ts';
import { isUrl, openComponents } from './components.ts';
import { describeFlags, type FlagValues, parseCommandLine } from './flags.ts';
import { print } from './output.ts';

const flags = {
  data: { value: 'FOLDER', help: 'The data folder of a broker that is not running.', defaultText: './shoal-data' },
  storage: { value: 'URL', help: 'Where segments are stored.', defaultText: 'segments/ in the data folder' },
  coordinator: {
    value: 'URL',
    help: 'What gave records their offsets.',
    defaultText: 'coordinator.db in the data folder',
  },
  'max-bytes': { value: 'N', help: "The fetch's limit in bytes.", defaultText: '1048576' },
  'price-per-1000-gets': {
    value: 'DOLLARS',
    help: 'What 1,000 GETs cost.',
    defaultText: '0.0004 with S3, 0 with a folder',
  },
  'price-per-gib': { value: 'DOLLARS', help: 'What reading a GiB costs.', defaultText: '0' },
  json: { help: 'Print the explanation as JSON.' },
} as const;

const help = `Usage: shoal explain TOPIC PARTITION OFFSET [flags]

Says what a fetch from that offset would do, without doing it: where the batches
lie, which ranged GETs it would make, bytes wanted and wasted, predicted latency
and dollars. It starts with an empty memory; a running engine answers the same
question with what it holds (explainFetch).

Flags (the name in parentheses is the variable that means the same):
${describeFlags(flags)}
`;

export const command: Command = {
  help,
  run: async (args) => {
    const { words, values } = parseCommandLine(flags, args, process.env);
    const target = readTarget(words);
    await print(`${await explain(target, values)}\n`);
    return 0;
  },
};

const MAX_OFFSET = 2n ** 63n - 1n;

interface Target {
  readonly topic: string;
  readonly partition: number;
  readonly fetchOffset: bigint;
}

/** @throws UsageError */
function readTarget(words: readonly string[]): Target {
  const [topic, partition, offset] = words;
  if (words.length !== 3 || !topic) throw new UsageError('TOPIC, PARTITION and OFFSET are needed, in this order');
  if (!/^\d{1,9}$/.test(partition!)) throw new UsageError(`PARTITION is ${partition}; a number from 0 up is needed`);
  if (!/^\d{1,19}$/.test(offset!) || BigInt(offset!) > MAX_OFFSET) {
    throw new UsageError(`OFFSET is ${offset}; a number from 0 to ${MAX_OFFSET} is needed`);
  }
  return { topic, partition: Number(partition), fetchOffset: BigInt(offset!) };
}

/** @throws CliError in one line that says what to do */
async function explain({ topic, partition, fetchOffset }: Target, values: FlagValues<typeof flags>): Promise<string> {
  const { data = './shoal-data', storage, coordinator: coordinatorUrl, json } = values;
  const settings = readSettings(values);
  const maxBytes = amount('--max-bytes', values['max-bytes'], 1024 * 1024);
  const components = await openComponents({ data, storage, coordinator: coordinatorUrl, existing: true });
  try {
    const { coordinator } = components;
    const topicIdPartition = await findPartition(coordinator, topic, partition);
    const explanation = await explainFetch({ coordinator, settings }, { topicIdPartition, fetchOffset, maxBytes });
    return json
      ? JSON.stringify({ topic, ...(explanationJson(explanation) as object) }, null, 2)
      : explanationText(explanation, `${topic}-${partition}`);
  } finally {
    await components.close();
  }
}

/** What a folder costs and how it answers, roughly: a read from the page cache, or from a disk without moving parts. */
const FOLDER = { priceDollarsPer1000Gets: 0, expectedFirstByteMs: 0.2, expectedBytesPerSecond: 2 ** 30 };

function readSettings(values: FlagValues<typeof flags>) {
  const { storage = '' } = values;
  const expected = isUrl(storage) ? defaultFetchSettings : FOLDER;
  const { expectedFirstByteMs, expectedBytesPerSecond, priceDollarsPer1000Gets } = expected;
  try {
    return fetchSettings({
      expectedFirstByteMs,
      expectedBytesPerSecond,
      priceDollarsPer1000Gets: amount('--price-per-1000-gets', values['price-per-1000-gets'], priceDollarsPer1000Gets),
      priceDollarsPerGib: amount('--price-per-gib', values['price-per-gib'], 0),
    });
  } catch (error) {
    if (error instanceof ApiError) throw new UsageError(error.message);
    throw error;
  }
}

function amount(flag: string, text: string | undefined, otherwise: number): number {
  const value = text === undefined ? otherwise : Number(text);
  if (text === '' || !Number.isFinite(value) || value < 0) {
    throw new UsageError(`${flag} is ${text}; a number of 0 or more is needed`);
  }
  return value;
}

async function findPartition(
  coordinator: DisklessCoordinator,
  name: string,
  partition: number,
): Promise<TopicIdPartition> {
  const topics = await coordinator.listTopics();
  const topic = topics.find((one) => one.name === name);
  if (!topic) {
    const guess = closest(
      name,
      topics.map((one) => one.name),
    );
    throw new CliError(`no topic is called ${name}${guess ? `; did you mean ${guess}?` : ''}`);
  }
  if (partition >= topic.partitions) {
    throw new CliError(`${name} has partitions 0 to ${topic.partitions - 1}; there is no ${partition}`);
  }
  return { topicId: topic.topicId, partition };
}
