/** The scenario runner on our own scenarios, and its refusal to pass over what it does not know. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runFolder } from './run-folder.ts';

const data = fileURLToPath(new URL('./data', import.meta.url));
const sample = join(data, 'hole-at-start-does-not-block.json');

describe('share scenarios', () => {
  const outcomes = runFolder(data, 'recommended');
  it('are there', () => expect(outcomes.length).toBeGreaterThanOrEqual(5));
  it.for(outcomes)('$name', ({ differences }) => expect(differences).toEqual([]));
});

describe('the scenario runner', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'shoal-scenarios-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Runs the sample after a change to its text. */
  function changed(from: string | RegExp, to: string): readonly string[] {
    const text = readFileSync(sample, 'utf8');
    const other = text.replace(from, to);
    expect(other).not.toBe(text);
    writeFileSync(join(folder, 'one.json'), other);
    return runFolder(folder, 'recommended')[0]!.differences;
  }

  it('refuses an empty folder and one that is not there', () => {
    expect(() => runFolder(folder, 'recommended')).toThrow('no scenario file');
    expect(() => runFolder(join(folder, 'nowhere'), 'recommended')).toThrow('ENOENT');
  });

  it('fails on an unknown operation, field, kind, and on text that is not JSON', () => {
    expect(changed('"op": "state"', '"op": "stat"')).toEqual(['step 3 stat: could not be run: unknown operation stat']);
    expect(changed('"member"', '"membre"')[0]).toContain('unknown field membre');
    expect(changed('"share-partition"', '"other"')).toEqual(['unknown kind other']);
    expect(changed('{', '')[0]).toContain('is not JSON');
  });

  it('sees a wrong expectation in every kind of step', () => {
    expect(changed('"nextFetchOffset": 5', '"nextFetchOffset": 6')[0]).toContain('nextFetchOffset: got 5, expected 6');
    expect(changed('"deliveryCount": 1', '"deliveryCount": 2')[0]).toContain('acquired');
    expect(changed('"error": null', '"error": "INVALID_RECORD_STATE"')[0]).toContain('error: got null');
    expect(changed('"startOffset": 15', '"startOffset": 16')[0]).toContain('startOffset: got 15, expected 16');
  });

  it('fails on a scenario that compares nothing', () => {
    writeFileSync(join(folder, 'one.json'), JSON.stringify({ ...JSON.parse(readFileSync(sample, 'utf8')), steps: [] }));
    expect(runFolder(folder, 'recommended')[0]!.differences[0]).toContain('without steps shows nothing');
  });
});
