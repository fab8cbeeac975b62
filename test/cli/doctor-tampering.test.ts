/** `shoal doctor` finds what was changed in the tables of an embedded coordinator behind its back, and nothing else. */
import { copyFileSync, cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openComponents } from '../../src/cli/components.ts';
import { SqlDatabase } from '../../src/coordinator/sqlite/driver.ts';
import { fillForTampering, TAMPERINGS } from '../support/tamperings.ts';
import { shoal } from './support/run-shoal.ts';

describe('shoal doctor on SQLite', () => {
  let folder: string;
  let data: string;
  let sound: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'shoal-tampering-'));
    data = join(folder, 'data');
    sound = join(folder, 'sound.db');
    const components = await openComponents({ data, storage: undefined, coordinator: undefined });
    await fillForTampering(components);
    await components.close();
    copyFileSync(join(data, 'coordinator.db'), sound);
  }, 60_000);
  afterAll(() => rmSync(folder, { recursive: true }));

  it('finds no fault in what was not changed', async () => {
    expect(await shoal('doctor', '--data', data)).toMatchObject({ code: 0, out: /no fault found/ });
  });

  for (const { name, sql, says, only } of TAMPERINGS) {
    it.skipIf(only === 'postgres')(`finds that ${name}`, async () => {
      const path = join(data, 'coordinator.db');
      copyFileSync(sound, path);
      const database = new SqlDatabase(path);
      database.exec(sql);
      database.close();
      const run = await shoal('doctor', '--data', data);
      copyFileSync(sound, path);
      expect(run.out + run.err).toMatch(says);
      expect(run.code).toBe(1);
    });
  }

  it('finds an object of somebody else, and one that is larger than what was committed', async () => {
    const copy = join(folder, 'copy');
    cpSync(data, copy, { recursive: true });
    const objects = join(copy, 'segments', 'segments');
    const [first] = readdirSync(objects);
    writeFileSync(join(objects, 'notes.txt'), 'not a segment, but long enough to be one');
    writeFileSync(join(objects, first!), 'more', { flag: 'a' });
    const run = await shoal('doctor', '--data', copy);
    expect(run.code).toBe(1);
    expect(run.out).toMatch(/object segments\/notes.txt is not known to the coordinator and no segment of Shoal's/);
    expect(run.out).toMatch(/object segments\/\S+ has \d+ bytes, \d+ were committed/);
  });
});
