/** Scenarios of client programs in other languages, each against a broker of its own that is killed and started when asked. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { HostProcess } from '../../server/host-process.ts';
import type { ClientProgram } from '../install.ts';

/** Runs a program's scenario to its end. @throws Error with everything it said unless it ends well. */
export async function runScenario([command, ...args]: ClientProgram, scenario: string): Promise<unknown> {
  const data = await mkdtemp(join(tmpdir(), 'shoal-clients-'));
  let host = await HostProcess.start({ data });
  const child = spawn(command, [...args, host.address, scenario], { stdio: ['pipe', 'pipe', 'pipe'] });
  const said: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk.toString()));
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      said.push(`${line}\n`);
      if (line !== 'kill') continue;
      await host.stop('SIGKILL');
      host = await HostProcess.start({ data, listen: host.address });
      child.stdin.write('\n');
    }
    const exitCode = await exited;
    if (exitCode !== 0)
      throw new Error(`${command} ${scenario} ended with ${exitCode}:\n${said.join('')}${host.output}`);
    return JSON.parse(said.filter((line) => line.startsWith('{')).at(-1)!);
  } finally {
    child.kill();
    await host.stop('SIGTERM');
    await rm(data, { recursive: true });
  }
}
