import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CliError } from '../../src/cli/command.ts';
import { holderOf, namingHolder, openDataFolder, removeHolder, writeHolder } from '../../src/cli/data-folder.ts';

const clusterId = '4Xy1bQFzQ6a3n5r1l2k3Jg';
const options = { version: '0.1.0', newClusterId: () => clusterId };

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'shoal-folder-'));
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

const manifest = (path: string) =>
  JSON.parse(readFileSync(join(path, 'shoal.json'), 'utf8')) as Record<string, unknown>;

describe('openDataFolder', () => {
  it('makes a folder that says what it is, and finds it again', async () => {
    const path = join(parent, 'a', 'b');
    const folder = await openDataFolder(path, options);
    expect(folder).toEqual({
      path,
      clusterId,
      databasePath: join(path, 'coordinator.db'),
      segmentsPath: join(path, 'segments'),
    });
    expect(manifest(path)).toEqual({ formatVersion: 1, clusterId, createdBy: '0.1.0', writtenBy: '0.1.0' });
    expect(readdirSync(path)).toEqual(['shoal.json']);
    const again = await openDataFolder(path, { ...options, newClusterId: () => 'another-id-of-22-charsA' });
    expect(again.clusterId).toBe(clusterId);
  });

  it('notes the version that last opened it and keeps the one that made it', async () => {
    await openDataFolder(parent, options);
    await openDataFolder(parent, { ...options, version: '0.2.0' });
    expect(manifest(parent)).toMatchObject({ createdBy: '0.1.0', writtenBy: '0.2.0', clusterId });
  });

  it('takes over where a first start was cut off', async () => {
    writeFileSync(join(parent, 'shoal.json.tmp'), '{"formatV');
    expect((await openDataFolder(parent, options)).clusterId).toBe(clusterId);
  });

  it('refuses a newer format with one line and touches nothing', async () => {
    const newer = '{"formatVersion":2,"somethingElse":true,"writtenBy":"3.1.0"}';
    writeFileSync(join(parent, 'shoal.json'), newer);
    const opening = openDataFolder(parent, options);
    await expect(opening).rejects.toThrow(CliError);
    await expect(opening).rejects.toThrow(
      `${parent} has data format 2, written by Shoal 3.1.0; this Shoal knows formats up to 1: run the newer Shoal`,
    );
    expect(readFileSync(join(parent, 'shoal.json'), 'utf8')).toBe(newer);
    expect(readdirSync(parent)).toEqual(['shoal.json']);
  });

  it.each(['', '{', 'null', '{}', '{"formatVersion":1,"clusterId":"short","writtenBy":"x"}', '{"formatVersion":"1"}'])(
    'refuses a damaged shoal.json: %s',
    async (text) => {
      writeFileSync(join(parent, 'shoal.json'), text);
      await expect(openDataFolder(parent, options)).rejects.toThrow('shoal.json is damaged');
      expect(readFileSync(join(parent, 'shoal.json'), 'utf8')).toBe(text);
    },
  );

  it('refuses a folder that holds other things', async () => {
    writeFileSync(join(parent, 'thesis.tex'), '');
    await expect(openDataFolder(parent, options)).rejects.toThrow('holds other things (thesis.tex)');
    expect(readdirSync(parent)).toEqual(['thesis.tex']);
  });

  it('refuses a path that is a file, or leads through one', async () => {
    const file = join(parent, 'file');
    writeFileSync(file, '');
    await expect(openDataFolder(file, options)).rejects.toThrow('a part of the path is a file');
    await expect(openDataFolder(join(file, 'sub'), options)).rejects.toThrow('a part of the path is a file');
  });
});

it.skipIf(!existsSync('/proc/self'))(
  'refuses a place where no folder can be made, instead of trying for ever',
  async () => {
    await expect(openDataFolder('/proc/shoal/data', options)).rejects.toThrow('no folder can be made there');
  },
);

describe('the holder of a folder', () => {
  it('is named while it lives', async () => {
    const folder = await openDataFolder(parent, options);
    expect(await holderOf(folder)).toBeUndefined();
    await writeHolder(folder);
    expect(await holderOf(folder)).toBe(process.pid);
    expect(await namingHolder('x is in use', folder)).toBe(`x is in use (it is held by process ${process.pid})`);
    expect(await namingHolder('x is damaged', folder)).toBe('x is damaged');
    writeFileSync(join(parent, 'shoal.pid'), '999999999\n');
    expect(await holderOf(folder)).toBeUndefined();
    writeFileSync(join(parent, 'shoal.pid'), 'nonsense');
    expect(await holderOf(folder)).toBeUndefined();
    await removeHolder(folder);
    expect(readdirSync(parent)).toEqual(['shoal.json']);
  });

  it('is said in one line when it cannot be written', async () => {
    const folder = await openDataFolder(parent, options);
    mkdirSync(join(parent, 'shoal.pid'));
    const writing = writeHolder(folder);
    await expect(writing).rejects.toThrow(CliError);
    await expect(writing).rejects.toThrow(`cannot use ${parent} as data folder: `);
  });
});
