/** The stress run in small, so that it cannot rot; what it proves at length it proves by hand and in test:s3. */
import { describe, expect, it } from 'vitest';
import { checksOf, type Settings } from './checks.ts';
import { newCounts } from './load.ts';
import { runStress } from './run-stress.ts';
import type { Verdict } from './verifier.ts';

const local = { SHOAL_S3_ENDPOINT: '' };

describe('stress', () => {
  it('passes on a local directory with faults, and says what was exercised', async () => {
    const { status, output } = await runStress(['--minutes', '0.03', '--faults', '0.2', '--producers', '3'], local);
    const closing = expect.stringMatching(/^7 passed, 0 failed: [1-9]\d* records through folder /);
    expect([status, output.at(-1)]).toEqual([0, closing]);
    expect(output).toContainEqual(expect.stringMatching(/^passed: [1-9]\d* faults were injected/));
  });

  it('refuses a setting that cannot be', async () => {
    const { status, output } = await runStress(['--records', '0'], local);
    expect([status, output.join()]).toEqual([1, expect.stringContaining('--records is a number from 1 to 10000')]);
  });
});

describe('checksOf', () => {
  const settings: Settings = {
    minutes: 1,
    producers: 1,
    inFlight: 1,
    consumers: 1,
    partitions: 1,
    shape: { records: 1, valueBytes: 1 },
    faults: 0.1,
    seed: 1,
  };
  const good = { acknowledgedRecords: 5, readRecords: 5, lost: 0, uninvited: 0, wrong: 0, gaps: 0, inDoubtFound: 0 };
  const failures = (verdict: Partial<Verdict>, consumedRecords = 5, faultCount = 3, wrongRecords = 0): number => {
    const counts = { ...newCounts(), consumedRecords, wrongRecords };
    const checks = checksOf(settings, { topicId: '', counts, faultCount }, { ...good, remarks: [], ...verdict });
    return checks.filter(([passed]) => !passed).length;
  };

  it('passes what went well, and fails for each thing that did not', () => {
    expect(failures({})).toBe(0);
    for (const name of ['lost', 'uninvited', 'wrong', 'gaps'] as const) expect(failures({ [name]: 1 })).toBe(1);
    expect(failures({}, 5, 3, 1)).toBe(1);
  });

  it('fails a run that exercised nothing', () => {
    expect(failures({ acknowledgedRecords: 0 })).toBe(1);
    expect(failures({}, 0)).toBe(1);
    expect(failures({}, 5, 0)).toBe(1);
  });
});
