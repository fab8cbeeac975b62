/** Groups with the clients that people have: librdkafka and Java, both protocols, through kills of the broker. */
import { describe, expect, it } from 'vitest';
import { javaProgram, pythonProgram } from '../install.ts';
import { runScenario } from './scenario.ts';

const minutes = (count: number): number => count * 60_000;

/** Every record once, though members came and went and the broker was killed; every offset committed. */
const everythingOnce = { values: 300, distinct: 300, errors: [], committed: [75, 75, 75, 75] };

describe('librdkafka', () => {
  const program = pythonProgram('groups/librdkafka.py');

  it.each(['classic', 'consumer'])('%s', { timeout: minutes(3) }, async (protocol) => {
    const type = protocol.toUpperCase();
    expect(await runScenario(program, protocol)).toEqual({ ...everythingOnce, type, state: 'STABLE', members: 2 });
  });
});

describe('Java', () => {
  const program = javaProgram('4.1.2', 'Groups');

  it.each([
    ['classic', 'Classic'],
    ['consumer', 'Consumer'],
    ['regex', 'Consumer'],
    ['migrate', 'Classic'],
  ])('%s', { timeout: minutes(3) }, async (scenario, type) => {
    expect(await runScenario(program, scenario)).toEqual({ ...everythingOnce, type, altered: 3 });
  });
});
