/** The scenario runner on our own scenarios, and its refusal to pass over what it does not know. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { scenariosCommand } from './command.ts';
import type { Level } from './compare.ts';
import { runFolder } from './run-folder.ts';

const data = fileURLToPath(new URL('./data', import.meta.url));
const sample = join(data, 'hole-at-start-does-not-block.json');

describe('share scenarios', () => {
  const outcomes = runFolder(data, 'strict');
  it('are there', () => expect(outcomes.length).toBeGreaterThanOrEqual(310));
  it('pass', () => expect(outcomes.filter(({ differences }) => differences.length > 0)).toEqual([]));
});

describe('the scenario runner', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'shoal-scenarios-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const put = (name: string, content: unknown) =>
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  const differencesOf = (content: unknown, level: Level = 'recommended'): readonly string[] => {
    put('one.json', content);
    return runFolder(folder, level)[0]!.differences;
  };

  /** Runs the sample after a change to its text. */
  function changed(from: string | RegExp, to: string): readonly string[] {
    const text = readFileSync(sample, 'utf8');
    const other = text.replace(from, to);
    expect(other).not.toBe(text);
    return differencesOf(other);
  }

  it('refuses an empty folder and one that is not there', () => {
    expect(() => runFolder(folder, 'recommended')).toThrow('no scenario file');
    expect(() => runFolder(join(folder, 'nowhere'), 'recommended')).toThrow('ENOENT');
    mkdirSync(join(folder, 'folder.json'));
    expect(() => runFolder(folder, 'recommended')).toThrow('no scenario file');
  });

  it('fails on an unknown operation, field, kind, mode, state and error', () => {
    expect(changed('"op": "state"', '"op": "stat"')).toEqual(['step 3 stat: could not be run: unknown operation stat']);
    expect(changed('"member"', '"membre"')[0]).toContain('unknown field membre');
    expect(changed('"nextFetchOffset"', '"nextOffset"')[0]).toContain('unknown field nextOffset');
    expect(changed('"lockTimeoutMs"', '"lockTimeout"')[0]).toContain('unknown field lockTimeout');
    expect(changed('"share-partition"', '"other"')).toEqual(['unknown kind other']);
    expect(changed('"batch_optimized"', '"eager"')[0]).toContain('unknown acquire mode "eager"');
    const step = (text: string) => changed('"steps": [', `"steps": [${text},`)[0];
    expect(step('{"op": "persister", "mode": "slow"}')).toContain('unknown persister mode "slow"');
    expect(step('{"op": "persister", "mode": "fail"}')).toContain('needs an error');
    expect(step('{"op": "persister", "mode": "fail", "error": "OOPS"}')).toContain('unknown error OOPS');
    expect(step('{"op": "completeWrite", "index": 0}')).toContain('no held write 0');
    expect(changed('"startOffset": 0', '"startOffset": 0, "stateBatches": [{"state": "GONE"}]')[0]).toContain(
      'unknown state GONE',
    );
  });

  it('names the file and the place of text that is not JSON', () => {
    expect(changed('"initial": {', '"initial": {,')[0]).toMatch(/is not JSON: .*one\.json, line 11, column 15: /);
    expect(differencesOf('{"kind":')[0]).toMatch(/one\.json, line 1, column 9: /);
    expect(differencesOf('[1]')[0]).toContain('one.json is no JSON object');
    expect(differencesOf('null')[0]).toContain('one.json is no JSON object');
  });

  it('refuses numbers that JSON would read as others', () => {
    expect(changed('"fetchOffset": 0', '"fetchOffset": 9223372036854775807')[0]).toContain('past 2^53');
  });

  it('takes byte order marks, line ends of Windows, and texts that it does not know', () => {
    const text = readFileSync(sample, 'utf8');
    expect(differencesOf(`\uFEFF${text.replaceAll('\n', '\r\n')}`)).toEqual([]);
    expect(changed('"kind"', '"source": "from memory", "see": ["a", "b"], "kind"')).toEqual([]);
  });

  it('sees a wrong expectation in every kind of step', () => {
    expect(changed('"nextFetchOffset": 5', '"nextFetchOffset": 6')[0]).toContain('nextFetchOffset: got 5, expected 6');
    expect(changed('"deliveryCount": 1', '"deliveryCount": 2')[0]).toContain('acquired');
    expect(changed('"error": null', '"error": "INVALID_RECORD_STATE"')[0]).toContain('error: got null');
    expect(changed('"error": null', '"pending": true')[0]).toContain('pending: got false');
    expect(changed('"error": null', '"writes": []')[0]).toContain('writes: got [{');
    expect(changed('"startOffset": 15', '"startOffset": 16')[0]).toContain('startOffset: got 15, expected 16');
  });

  it('looks only at what is expected, and fails when that is nothing', () => {
    const scenario = JSON.parse(readFileSync(sample, 'utf8'));
    const [acquire] = scenario.steps;
    const only = (expect: unknown) => differencesOf({ ...scenario, steps: [{ ...acquire, expect }] });
    expect(only({ nextFetchOffset: 5 })).toEqual([]);
    expect(only(undefined)).toEqual(['step 0 acquire: nothing was compared']);
    expect(differencesOf({ ...scenario, steps: [] })[0]).toContain('without steps shows nothing');
    expect(differencesOf({ ...scenario, steps: undefined })[0]).toContain('without steps shows nothing');
    expect(differencesOf({ kind: 'rotation', cases: [] })).toEqual(['has no cases']);
  });

  it('compares as much as the level says', () => {
    const text = readFileSync(join(data, 's09-stale-records-hold-the-start.json'), 'utf8');
    const failing = (from: string, to: string) => {
      const other = text.replace(from, to);
      expect(other).not.toBe(text);
      return (['required', 'recommended', 'strict'] as const).filter((level) => differencesOf(other, level).length > 0);
    };
    expect(failing('"nextFetchOffset": 10, "batches"', '"nextFetchOffset": 11, "batches"')).toHaveLength(3);
    expect(failing('"last": 9, "state": "ACKNOWLEDGED"', '"last": 9, "state": "ARCHIVED"')).toHaveLength(3);
    const fromRecommended = ['recommended', 'strict'];
    expect(failing('"endOffset": 9', '"endOffset": 8')).toEqual(fromRecommended);
    expect(failing('"deliveryCompleteCount": 5, "inFlight', '"deliveryCompleteCount": 4, "inFlight')).toEqual(
      fromRecommended,
    );
    expect(failing('"last": 4, "state": "ACQUIRED"', '"last": 4, "state": "ARCHIVED"')).toEqual(fromRecommended);
    expect(
      failing(
        '"last": 9, "state": "ACKNOWLEDGED", "deliveryCount": 1}]',
        '"last": 9, "state": "ACKNOWLEDGED", "deliveryCount": 1, "pending": true}]',
      ),
    ).toEqual(fromRecommended);
    expect(
      failing(
        '{"first": 5, "last": 9, "state": "ACKNOWLEDGED", "deliveryCount": 1}]',
        '{"first": 5, "last": 9, "offsets": [{"first": 5, "last": 9, "state": "ACKNOWLEDGED", "deliveryCount": 1}]}]',
      ),
    ).toEqual(['strict']);
  });

  it('runs a folder from anywhere, ends with a count, and says in its exit code what came of it', () => {
    const run = (args: string[], calledFrom?: string) => {
      let [out, error] = ['', ''];
      const code = scenariosCommand(args, {
        out: (text) => {
          out += text;
        },
        error: (text) => {
          error += text;
        },
        calledFrom,
      });
      return { code, out, error };
    };
    put('good.json', readFileSync(sample, 'utf8'));
    const passed = { code: 0, out: '1 passed, 0 failed\n', error: '' };
    expect(run([folder])).toEqual(passed);
    expect(run([relative(process.cwd(), folder), '--level', 'strict'])).toEqual(passed);
    expect(run([`./${basename(folder)}/`, '--level=required'], dirname(folder))).toEqual(passed);
    mkdirSync(join(folder, 'extra'));
    put('extra/bad.json', { kind: 'rotation', cases: [{ sessionEpoch: 0, partitions: ['a'], expect: ['b'] }] });
    const { code, out } = run([folder]);
    expect(code).toBe(1);
    expect(out).toMatch(/^extra.bad\.json 0: order: got \["a"\], expected \["b"\]\n1 passed, 1 failed\n$/);
    expect(run([join(folder, 'nowhere')])).toMatchObject({ code: 2, out: '' });
    for (const args of [[], [folder, folder], [folder, '--level', 'lax'], [folder, '--other']]) {
      expect(run(args)).toMatchObject({ code: 2, out: '' });
      expect(run(args).error).not.toBe('');
    }
    expect(run(['--help'])).toMatchObject({ code: 0, error: '' });
  });
});
