/**
 * Client programs in other languages: their libraries come from the registries by the ordinary package clients, once, into
 * the cache folder under node_modules; each runs against a broker of its own that is killed and started again when asked.
 */
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { HostProcess, root } from '../../server/host-process.ts';

const run = promisify(execFile);
const here = fileURLToPath(new URL('.', import.meta.url));
const cache = join(root, 'node_modules', '.cache', 'shoal-clients');

/** A program with its arguments, to which the broker's address and the scenario are added. */
export type ClientProgram = readonly [command: string, ...args: string[]];

/** librdkafka through confluent-kafka, in a virtual environment of its own. */
export async function pythonProgram(): Promise<ClientProgram> {
  const python = join(cache, 'python', 'bin', 'python');
  if (!existsSync(python)) await run('python3', ['-m', 'venv', join(cache, 'python')]);
  await run(python, ['-m', 'pip', 'install', '--quiet', 'confluent-kafka==2.16.1']);
  return [python, join(here, 'librdkafka.py')];
}

/** kafka-clients, and the program compiled against it. */
export async function javaProgram(): Promise<ClientProgram> {
  const classes = join(cache, 'java');
  await mkdir(classes, { recursive: true });
  const copy = ['-q', '-f', join(here, 'pom.xml'), 'dependency:copy-dependencies', `-DoutputDirectory=${classes}`];
  await run('mvn', copy);
  const classPath = join(classes, '*');
  await run('javac', ['-cp', classPath, '-d', classes, join(here, 'Groups.java')]);
  return ['java', '-cp', `${classes}:${classPath}`, 'Groups'];
}

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
