/** `shoal doctor`, as built, on a data folder that a real engine filled: sound, then with faults of every kind. */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openComponents } from '../../src/cli/components.ts';
import { SqlDatabase } from '../../src/coordinator/sqlite/driver.ts';
import { openEngine } from '../../src/engine/engine.ts';
import { crc32c, crc32cCombine } from '../../src/kernel.ts';
import { encodeSegment } from '../../src/produce/segment-format.ts';
import { plainBatch } from '../support/record-batches.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
let folder: string;
let sound: string;

async function fill(data: string): Promise<void> {
  const components = await openComponents({ data, storage: undefined, coordinator: undefined });
  const engine = await openEngine(components, { workerThreads: 0, produceCommitIntervalMs: 1 });
  const [created] = await engine.createTopics([{ name: 'ward', partitions: 2 }]);
  for (let round = 0; round < 4; round += 1) {
    const records = plainBatch(3, 10);
    const partitions = [0, 1].map((partition) => ({
      topicIdPartition: { topicId: created!.topicId, partition },
      records,
    }));
    const results = await engine.append(partitions);
    expect(results.map(({ error }) => error)).toEqual([0, 0]);
  }
  await engine.close();
  await components.close();
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'shoal-doctor-'));
  sound = join(folder, 'sound');
  await fill(sound);
});
afterAll(() => rmSync(folder, { recursive: true }));

function doctor(data: string, ...args: string[]) {
  const command = ['dist/cli.js', 'doctor', '--data', data, ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: root, encoding: 'utf8' });
  return { status, stdout, stderr };
}

/** A copy of the sound folder, and its objects' paths. */
function copy(name: string): { data: string; objects: string[] } {
  const data = join(folder, name);
  cpSync(sound, data, { recursive: true });
  const segments = join(data, 'segments');
  const files = readdirSync(segments, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return { data, objects: files.map((entry) => join(entry.parentPath, entry.name)).sort() };
}

describe('shoal doctor', () => {
  it('migrates nothing and makes nothing', () => {
    const { data } = copy('older');
    const database = new SqlDatabase(join(data, 'coordinator.db'));
    database.exec('PRAGMA user_version = 2');
    database.close();
    const run = doctor(data);
    expect(run.status).toBe(1);
    expect(run.stderr).toMatch(/has schema version 2; a broker of this Shoal brings it to \d+ when it starts/);
    const left = new SqlDatabase(join(data, 'coordinator.db'));
    expect(left.sql('PRAGMA user_version').get()).toEqual({ user_version: 2n });
    left.close();
    const nowhere = join(folder, 'nowhere');
    expect(doctor(nowhere, '--coordinator', join(data, 'coordinator.db')).stderr).toContain(
      `${nowhere} is no data folder; name the one of your broker with --data`,
    );
    expect(existsSync(nowhere)).toBe(false);
  });

  it('finds no fault in what an engine wrote, and says what is held', () => {
    const run = doctor(sound, '--json');
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(JSON.parse(run.stdout)).toMatchObject({
      topics: 1,
      partitions: 2,
      coordinates: 8,
      objects: 4,
      unknownObjects: 0,
      problemCount: 0,
      databaseFaults: [],
    });
    expect(doctor(sound).stdout).toContain('no fault found');
  });

  it('tells of objects that are missing, cut, overwritten, and of those nobody committed', () => {
    const { data, objects } = copy('faulty');
    rmSync(objects[0]!);
    truncateSync(objects[1]!, 40);
    const flipped = readFileSync(objects[2]!);
    flipped[flipped.length - 20]! ^= 1;
    writeFileSync(objects[2]!, flipped);
    cpSync(objects[3]!, join(objects[3]!, '..', 'stranger'));
    const run = doctor(data, '--json');
    expect(run.status).toBe(1);
    const { problems, problemCount, unknownObjects } = JSON.parse(run.stdout) as {
      problems: string[];
      problemCount: number;
      unknownObjects: number;
    };
    expect(problemCount).toBe(7);
    expect(problems.filter((line) => line.includes('does not exist'))).toHaveLength(2);
    expect(problems.filter((line) => line.includes('is damaged'))).toHaveLength(4);
    expect(problems.filter((line) => line.includes('were committed'))).toHaveLength(1);
    expect(problems[0]).toMatch(/^ward-0 offset \d+: object segments\//);
    expect(unknownObjects).toBe(1);
  });

  it('tells of an object that is not what was committed', () => {
    const { data, objects } = copy('swapped');
    // A sound segment of other partitions, under the key of one that was committed.
    const origin = { uploaderId: 0, uploaderEpoch: 1, segmentSequence: 0, createdMs: 0 };
    const bytes = plainBatch(1, 10);
    const topicIdPartition = { topicId: 'AAAAAAAAAAAAAAAAAAAAAQ', partition: 0 };
    const batch = { topicIdPartition, bytes, recordCount: 1, maxTimestamp: 0n, crc: crc32c(bytes.subarray(21)) };
    const { body } = encodeSegment([batch], origin, { crc32c, crc32cCombine });
    writeFileSync(objects[0]!, Buffer.concat(body));
    const run = doctor(data);
    expect(run.status).toBe(1);
    expect(run.stdout).toMatch(/has no run of it at position/);
    expect(run.stdout).toContain('faults were found');
  });

  it('tells of a damaged database, and makes nothing where there is none', () => {
    const { data } = copy('damaged');
    const path = join(data, 'coordinator.db');
    const bytes = readFileSync(path);
    bytes.fill(0xee, 4_096, 12_288);
    writeFileSync(path, bytes);
    const run = doctor(data);
    expect(run.status).toBe(1);
    expect(run.stdout + run.stderr).toMatch(/malformed|damaged|database:/);
    const nothing = doctor(join(folder, 'nothing'));
    expect(nothing).toMatchObject({ status: 1, stdout: '' });
    expect(nothing.stderr).toMatch(/does not exist; name the data folder with --data/);
    const elsewhere = doctor(data, '--storage', join(folder, 'nothing'));
    expect(elsewhere).toMatchObject({ status: 1, stdout: '' });
    expect(elsewhere.stderr).toMatch(/nothing does not exist; name the folder of the segments with --storage/);
    expect(readdirSync(folder)).not.toContain('nothing');
  });
});
