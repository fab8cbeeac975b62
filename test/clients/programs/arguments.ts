/**
 * How the traffic programs are called. Each client's program (Traffic.java, traffic.py, go/traffic.go, kafkajs.ts, kcat.ts)
 * makes and checks the same records (content.ts) and speaks the same few words:
 *
 * Arguments are NAME=VALUE: mode (produce or consume), address, client (the client id), base (a time in ms), partitions
 * (a topic's), records (a partition's), topics (NAME:CODEC,…), marks (fractions of the whole, or nothing), and, for a
 * consumer, group and protocol (classic or consumer).
 *
 * On standard output: `ready` at the start, `at N` now and then, `mark N` when a mark is reached. After `ready` and after
 * each mark the program waits for a line on standard input. At `ready` it stands still; at a mark it goes on slowly, for up
 * to a fifth of the whole, so that whatever happens to the broker meanwhile meets requests in flight. After its last mark a
 * consumer leaves its group and comes back. The last line is JSON: {"version", "records", "topics": {NAME: {"records",
 * "timestamps"}}}. Anything out of place ends the program with a message and exit code 1: an offset, a record that is
 * missing, doubled or different.
 */
import { namedArguments } from '../../support/named-arguments.ts';

export interface TrafficArguments {
  readonly mode: 'produce' | 'consume';
  readonly address: string;
  readonly client: string;
  readonly baseTimestamp: number;
  readonly partitions: number;
  readonly recordsPerPartition: number;
  readonly topics: readonly { readonly name: string; readonly codec: string }[];
  readonly marks: readonly number[];
  readonly group: string;
}

export function trafficArguments(argv: readonly string[]): TrafficArguments {
  const value = namedArguments(argv);
  return {
    mode: value('mode') as TrafficArguments['mode'],
    address: value('address'),
    client: value('client'),
    baseTimestamp: Number(value('base')),
    partitions: Number(value('partitions')),
    recordsPerPartition: Number(value('records')),
    topics: value('topics')
      .split(',')
      .map((topic) => ({ name: topic.split(':')[0]!, codec: topic.split(':')[1]! })),
    marks: value('marks').split(',').filter(Boolean).map(Number),
    group: value('group', ''),
  };
}

export const totalRecords = ({ topics, partitions, recordsPerPartition }: TrafficArguments): number =>
  topics.length * partitions * recordsPerPartition;
