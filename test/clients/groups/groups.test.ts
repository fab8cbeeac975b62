/** Groups with the clients that people have: librdkafka and Java, both protocols, through kills of the broker. */
import { beforeAll, describe, expect, it } from 'vitest';
import { type ClientProgram, javaProgram, pythonProgram, runScenario } from './client-program.ts';

const minutes = (count: number): number => count * 60_000;

/** Every record once, though members came and went and the broker was killed; every offset committed. */
const everythingOnce = { values: 300, distinct: 300, errors: [], committed: [75, 75, 75, 75] };

describe('librdkafka', () => {
  let program: ClientProgram;
  beforeAll(async () => {
    program = await pythonProgram();
  }, minutes(5));

  it.each(['classic', 'consumer'])('%s', { timeout: minutes(3) }, async (protocol) => {
    const type = protocol.toUpperCase();
    expect(await runScenario(program, protocol)).toEqual({ ...everythingOnce, type, state: 'STABLE', members: 2 });
  });
});

describe('Java', () => {
  let program: ClientProgram;
  beforeAll(async () => {
    program = await javaProgram();
  }, minutes(5));

  it.each([
    ['classic', 'Classic'],
    ['consumer', 'Consumer'],
    ['regex', 'Consumer'],
    ['migrate', 'Classic'],
  ])('%s', { timeout: minutes(3) }, async (scenario, type) => {
    expect(await runScenario(program, scenario)).toEqual({ ...everythingOnce, type, altered: 3 });
  });
});
