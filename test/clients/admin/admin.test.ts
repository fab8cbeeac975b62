/** The admin clients of kafkajs, librdkafka and Java: each does the same, sees the same, is refused the same. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readme, section } from '../../support/readme-tables.ts';
import { BrokerBehindProxy } from '../broker-behind-proxy.ts';
import { type ClientProgram, javaProgram, pythonProgram } from '../install.ts';
import { apiVersionsTable, parseApiVersions, showInReadme } from '../matrix-report.ts';
import type { AdminAnswers, AdminScenario } from './admin-scenario.ts';
import { kafkajsAdmin } from './kafkajs-admin.ts';

const run = promisify(execFile);
const RECORDS = 10;
const TIMEOUT_MS = 120_000;

let broker: BrokerBehindProxy;
beforeAll(async () => {
  broker = await BrokerBehindProxy.start();
});
afterAll(() => broker.close());

const scenario = (client: string): AdminScenario => ({
  address: broker.address,
  topic: client,
  group: `group-${client}`,
  base: Date.now() - 60_000,
  records: RECORDS,
});

async function runProgram([command, ...args]: ClientProgram, client: string): Promise<AdminAnswers> {
  const { address, topic, group, base, records } = scenario(client);
  const { stdout } = await run(command, [...args, address, topic, group, String(base), String(records)]);
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as AdminAnswers;
}

const all = (offset: number): number[] => [offset, offset, offset, offset];

function expected(): AdminAnswers {
  const { clusterId } = JSON.parse(readFileSync(join(broker.data, 'shoal.json'), 'utf8')) as { clusterId: string };
  return {
    ...{ createdAgain: 'TOPIC_ALREADY_EXISTS', unknownConfig: 'INVALID_CONFIG', listed: true },
    ...{ partitions: 3, leader: 0, grown: 4, fewer: 'INVALID_PARTITIONS' },
    ...{ retentions: ['3600000', '7200000', '604800000'], badConfig: 'INVALID_CONFIG' },
    ...{ earliest: all(0), latest: all(RECORDS), at: all(5) },
    ...{ state: 'Stable', members: 1, nonEmpty: 'NON_EMPTY_GROUP' },
    ...{ committed: all(RECORDS), reset: [0, 5, RECORDS, RECORDS], groupListed: true, groupGone: 'GROUP_ID_NOT_FOUND' },
    ...{ lowWatermarks: [4, RECORDS, 0, 0], beyond: 'OFFSET_OUT_OF_RANGE' },
    ...{ clusterId, controller: 0, brokers: [`0@${broker.address}`] },
    ...{ acls: 'SECURITY_DISABLED', unknownTopic: 'UNKNOWN_TOPIC_OR_PARTITION' },
  };
}

describe.sequential('admin clients', { timeout: TIMEOUT_MS }, () => {
  it('kafkajs', async () => expect(await kafkajsAdmin(scenario('kafkajs'))).toEqual(expected()));

  it('librdkafka', async () => {
    const answers = await runProgram(pythonProgram('admin/admin.py'), 'librdkafka');
    // It gives the one error a shorter name, and shows DescribeAcls' error to nobody.
    expect(answers).toEqual({ ...expected(), unknownTopic: 'UNKNOWN_TOPIC_OR_PART', acls: 'none' });
  });

  it.each([
    ['java-4.1', '4.1.2'],
    ['java-4.4', '4.4.0'],
  ] as const)('%s', async (client, version) => {
    const answers = await runProgram(javaProgram(version, 'AdminScenario'), client);
    const more = { maxTimestamp: all(RECORDS - 1), producers: [RECORDS - 1], reassignments: 0, sized: true };
    expect(answers).toEqual({ ...expected(), ...more });
  });

  it('send the API versions that the README shows (SHOAL_README=write npm run test:clients)', () => {
    const known = parseApiVersions(section(readme(), 'admin-clients'));
    const others = parseApiVersions(section(readme(), 'clients'));
    const clients = ['kafkajs', 'librdkafka', 'java-4.1', 'java-4.4'];
    const table = apiVersionsTable(broker.proxy.sent, known, clients, (name) => !others.has(name));
    const shown = showInReadme('admin-clients', table);
    expect(shown).toBe(table);
  });
});
