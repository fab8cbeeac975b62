/** The soak's judge, held against histories that are right and against each of its invariants broken once. */
import { describe, expect, it } from 'vitest';
import { History } from './history.ts';
import { recordName, recordValue } from './journal.ts';
import { type Evidence, judge } from './judge.ts';
import { PartitionLog } from './partition-log.ts';

const KEPT = 'kept';
const AGAIN = 'again';
const P = 'kafkajs.p0-0.zstd';

/** Journals of one producer with three records in each topic, and of one member that has read and committed them. */
function journals(): string[] {
  const lines: string[] = [];
  for (const topic of [KEPT, AGAIN]) {
    for (const number of [0, 1, 2]) lines.push(`S 100 ${P} ${topic} 0 ${number}`);
    for (const number of [0, 1, 2]) lines.push(`A 11${number} ${P} ${topic} 0 ${number} ${number} 100`);
  }
  lines.push('S 120 kafkajs.p0-0.refused kept 0 0', 'R 121 kafkajs.p0-0.refused kept 0 0 INVALID_TIMESTAMP');
  lines.push('M 130 kafkajs.c0-0', '+ 131 kafkajs.c0-0 kept 0');
  for (const number of [0, 1, 2]) lines.push(`C 132 kafkajs.c0-0 kept 0 ${number} ${P} ${number}`);
  lines.push('K 133 kafkajs.c0-0 kept 0 3');
  return lines;
}

function logOf(topicId: string, topic: string, names: readonly string[], start = 0): PartitionLog {
  const log = new PartitionLog(topicId, topic, 0, start);
  for (const [index, name] of names.entries()) if (name !== '') log.put(start + index, name as `${string}/${number}`);
  return log;
}

const names = [`${P}/0`, `${P}/1`, `${P}/2`];

function evidence(changes: Partial<Evidence> & { readonly lines?: readonly string[] } = {}): Evidence {
  const history = new History();
  for (const line of changes.lines ?? journals()) history.add(line.split(' '));
  return {
    history,
    generations: [
      { topicId: 'K', topic: KEPT, askedMs: 0, createdMs: 1 },
      { topicId: 'A', topic: AGAIN, askedMs: 0, createdMs: 1, deletedMs: 200 },
      { topicId: 'B', topic: AGAIN, askedMs: 201, createdMs: 202 },
    ],
    watched: [logOf('K', KEPT, names), logOf('A', AGAIN, names), logOf('B', AGAIN, [])],
    final: [logOf('K', KEPT, names), logOf('B', AGAIN, [])],
    consumedTopics: [KEPT],
    keptTopics: [KEPT],
    committed: new Map([['kafkajs kept-0', 3]]),
    recoveries: [{ after: 'a kill', tookMs: 10, missing: '' }],
    readerProblems: [],
    samples: 1,
    batches: 1,
    doctorProblems: [],
    doctorCoordinates: 1,
    ...changes,
  };
}

/** The invariants that a verdict finds broken. */
const broken = (given: Evidence): string[] =>
  judge(given)
    .filter(({ problems }) => problems.length > 0)
    .map(({ invariant }) => invariant);

const edited = (change: (line: string) => string | string[]): string[] => journals().flatMap(change);

describe('the judge of a soak', () => {
  it('finds nothing in a history that is right, and has compared something for each invariant', () => {
    const findings = judge(evidence());
    expect(findings.flatMap(({ problems }) => problems)).toEqual([]);
    for (const { invariant, compared } of findings) expect(compared, invariant).toBeGreaterThan(0);
    expect(findings.map(({ invariant }) => invariant)).toEqual([
      'I1',
      'I2',
      'I3',
      'I4',
      'I5',
      'I6',
      'I7',
      'I9',
      'I10',
      'I11',
      'I12',
      'I14',
    ]);
  });

  const short = [`${P}/0`, `${P}/1`];
  const cases: readonly [name: string, expected: readonly string[], given: Evidence][] = [
    [
      'a record that is lost for everybody',
      ['I1', 'I10', 'I12'],
      evidence({
        lines: edited((line) => (line.startsWith('C') && line.endsWith(' 1') ? [] : line)),
        watched: [logOf('K', KEPT, [names[0]!, '', names[2]!]), logOf('A', AGAIN, names)],
        final: [logOf('K', KEPT, [names[0]!, '', names[2]!])],
        consumedTopics: [],
      }),
    ],
    ['a record that the last kill loses', ['I12'], evidence({ final: [logOf('K', KEPT, short)] })],
    [
      'a refused record in the log',
      ['I2'],
      evidence({
        lines: [...journals(), `C 134 kafkajs.c0-0 kept 0 3 kafkajs.p0-0.refused 0`],
        watched: [logOf('K', KEPT, [...names, 'kafkajs.p0-0.refused/0']), logOf('A', AGAIN, names)],
        final: [logOf('K', KEPT, [...names, 'kafkajs.p0-0.refused/0'])],
      }),
    ],
    [
      'a refused record that is acknowledged',
      ['I2'],
      evidence({
        lines: edited((line) => line.replace('INVALID_TIMESTAMP', 'accepted')),
      }),
    ],
    [
      'a record that nobody sent',
      ['I2'],
      evidence({
        watched: [logOf('K', KEPT, names), logOf('A', AGAIN, [...names, `${P}/9`])],
      }),
    ],
    [
      'a deleted topic’s record in its successor',
      ['I2'],
      evidence({
        final: [logOf('K', KEPT, names), logOf('B', AGAIN, [`${P}/0`])],
      }),
    ],
    [
      'an offset whose record changes',
      ['I3', 'I4', 'I9'],
      evidence({
        final: [logOf('K', KEPT, [names[0]!, names[2]!, names[1]!])],
        watched: [logOf('K', KEPT, names), logOf('A', AGAIN, names)],
        committed: new Map([['kafkajs kept-0', 3]]),
      }),
    ],
    [
      'a member that is given another record',
      ['I3'],
      evidence({
        lines: edited((line) => (line.startsWith('C') ? line.replace(/ 1$/, ' 0') : line)),
      }),
    ],
    [
      'an idempotent record that is there twice',
      ['I4'],
      evidence({
        lines: [...journals(), `C 134 kafkajs.c0-0 kept 0 3 ${P} 2`],
        watched: [logOf('K', KEPT, [...names, `${P}/2`]), logOf('A', AGAIN, names)],
        final: [logOf('K', KEPT, [...names, `${P}/2`])],
      }),
    ],
    [
      'a member that jumps',
      ['I5'],
      evidence({
        lines: [
          ...edited((line) => (line.startsWith('C') && line.endsWith(' 1') ? [] : line)),
          'M 140 kafkajs.c1-0',
          '+ 120 kafkajs.c1-0 kept 0',
          `C 142 kafkajs.c1-0 kept 0 1 ${P} 1`,
        ],
      }),
    ],
    ['a member that rewinds', ['I5'], evidence({ lines: [...journals(), `C 134 kafkajs.c0-0 kept 0 1 ${P} 1`] })],
    [
      'a member that reads what it was not assigned',
      ['I5'],
      evidence({
        lines: [...journals(), 'M 140 kafkajs.c1-0', `C 142 kafkajs.c1-0 kept 0 1 ${P} 1`],
      }),
    ],
    [
      'a member that begins before the committed offset',
      ['I5'],
      evidence({
        lines: [...journals(), '+ 140 kafkajs.c0-0 kept 0', `C 142 kafkajs.c0-0 kept 0 1 ${P} 1`],
      }),
    ],
    ['a committed offset that is gone', ['I5'], evidence({ committed: new Map([['kafkajs kept-0', 2]]) })],
    [
      'records whose order is not their producer’s',
      ['I6'],
      evidence({
        lines: edited((line) =>
          line
            .replace(/^(A.* )1 1 100$/, '$1ONE')
            .replace(/^(A.* )2 2 100$/, '$12 1 100')
            .replace('ONE', '1 2 100')
            .replace(/^(C.* )1 (.*) 1$/, '$11 $2 2')
            .replace(/^(C.* )2 (.*) 2$/, (whole) => (whole.includes(' 0 2 ') ? whole.replace(/2$/, '1') : whole)),
        ),
        watched: [
          logOf('K', KEPT, [names[0]!, names[2]!, names[1]!]),
          logOf('A', AGAIN, [names[0]!, names[2]!, names[1]!]),
        ],
        final: [logOf('K', KEPT, [names[0]!, names[2]!, names[1]!])],
      }),
    ],
    [
      'a group that has not read the end',
      ['I7'],
      evidence({
        lines: edited((line) => (line.startsWith('C') && line.endsWith(' 2') ? [] : line)),
      }),
    ],
    [
      'an acknowledged offset that is another record’s',
      ['I2', 'I9'],
      evidence({
        lines: edited((line) =>
          line.startsWith('A') && line.includes(KEPT)
            ? line.replace(' 0 0 100', ' 0 0 100').replace(/ 2 2 100$/, ' 2 3 100')
            : line,
        ),
        watched: [logOf('K', KEPT, [...names, `${P}/3`]), logOf('A', AGAIN, names)],
        final: [logOf('K', KEPT, [...names, `${P}/3`])],
        consumedTopics: [],
      }),
    ],
    ['a kept topic whose beginning is gone', ['I10'], evidence({ final: [logOf('K', KEPT, names.slice(1), 1)] })],
    [
      'what the reader found',
      ['I10', 'I11'],
      evidence({
        readerProblems: [
          { invariant: 'I10', text: 'a high watermark went back' },
          { invariant: 'I11', text: 'a wrong CRC' },
        ],
      }),
    ],
    ['what shoal doctor found', ['I11'], evidence({ doctorProblems: ['a coordinate leads nowhere'] })],
    [
      'clients that do not come back',
      ['I14'],
      evidence({
        recoveries: [{ after: 'a kill', tookMs: 60_000, missing: 'the group of kafkajs' }],
      }),
    ],
  ];
  it.each(cases)('finds %s', (_, expected, given) => {
    expect(broken(given)).toEqual(expected);
  });

  it('does not count what it had nothing to compare with', () => {
    const findings = judge(
      evidence({ lines: [], watched: [], final: [], committed: new Map(), recoveries: [], samples: 0, batches: 0 }),
    );
    for (const { invariant, compared } of findings) expect(compared, invariant).toBe(0);
  });
});

describe('values', () => {
  it('say who they are, where they belong', () => {
    const value = recordValue(P, KEPT, 3, 14, 5);
    expect(recordName(value, KEPT, 3)).toBe(`${P}/14`);
    expect(recordName(value, KEPT, 2)).toBeUndefined();
    expect(recordName(value, AGAIN, 3)).toBeUndefined();
    expect(recordName(`${value}y`, KEPT, 3)).toBeUndefined();
    expect(recordName('hello', KEPT, 3)).toBeUndefined();
  });
});
