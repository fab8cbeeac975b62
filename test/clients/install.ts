/**
 * Libraries of clients in other languages: they come from the registries by the ordinary package clients, once, into a cache
 * folder under node_modules; the programs are compiled there. Run by vitest before the clients' suites (their global setup),
 * so that no two suites install at the same time.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { root } from '../server/host-process.ts';

const run = promisify(execFile);
const here = fileURLToPath(new URL('.', import.meta.url));
const cache = join(root, 'node_modules', '.cache', 'shoal-clients');

/** A program with its first arguments. */
export type ClientProgram = readonly [command: string, ...args: string[]];

const CONFLUENT_KAFKA = '2.16.1';
/** The oldest that the matrix has, and the newest, which comes with Kafka's command-line tools. */
const JAVA_VERSIONS = ['4.1.2', '4.4.0'] as const;
type JavaVersion = (typeof JAVA_VERSIONS)[number];
const ARTIFACTS: Readonly<Record<JavaVersion, string>> = { '4.1.2': 'kafka-clients', '4.4.0': 'kafka-tools' };

const jars = (version: JavaVersion): string => join(cache, `java-${version}`);
const classes = (version: JavaVersion): string => join(cache, `classes-${version}`);

export const pythonProgram = (path: string): ClientProgram => [
  join(cache, 'python', 'bin', 'python'),
  join(here, path),
];

export const javaProgram = (version: JavaVersion, mainClass: string, ...options: string[]): ClientProgram => [
  'java',
  ...['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', ...options],
  ...['-cp', [classes(version), join(jars(version), '*')].join(':'), mainClass],
];

export const goProgram: ClientProgram = [join(cache, 'go', 'traffic')];

export const nodeProgram = (path: string): ClientProgram => [process.execPath, '--import', 'tsx', join(here, path)];

/** Does the work unless it was done for the same inputs. */
async function once(name: string, inputs: readonly string[], work: () => Promise<void>): Promise<void> {
  const stamp = join(cache, `${name}.stamp`);
  const wanted = createHash('sha256').update(inputs.join('\n')).digest('hex');
  if (existsSync(stamp) && (await readFile(stamp, 'utf8')) === wanted) return;
  const start = performance.now();
  process.stdout.write(`installing ${name} …\n`);
  await work();
  await writeFile(stamp, wanted);
  process.stdout.write(`installing ${name}: ${((performance.now() - start) / 1000).toFixed(1)} s\n`);
}

const sources = (...paths: string[]): Promise<string[]> =>
  Promise.all(paths.map((path) => readFile(join(here, path), 'utf8')));

async function installPython(): Promise<void> {
  const folder = join(cache, 'python');
  await rm(folder, { recursive: true, force: true });
  await run('python3', ['-m', 'venv', folder]);
  await run(join(folder, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', `confluent-kafka==${CONFLUENT_KAFKA}`]);
}

async function installJars(version: JavaVersion): Promise<void> {
  await rm(jars(version), { recursive: true, force: true });
  const properties = [`-Dartifact=${ARTIFACTS[version]}`, `-Dkafka=${version}`, `-DoutputDirectory=${jars(version)}`];
  await run('mvn', ['-q', '-f', join(here, 'pom.xml'), 'dependency:copy-dependencies', ...properties]);
}

async function compile(version: JavaVersion, programs: readonly string[]): Promise<void> {
  await rm(classes(version), { recursive: true, force: true });
  const paths = programs.map((path) => join(here, path));
  await run('javac', ['-nowarn', '-cp', join(jars(version), '*'), '-d', classes(version), ...paths]);
}

/** The soak's program, which lies with the soak. */
const SOAK = '../soak/programs/Soak.java';

async function javaPrograms(version: JavaVersion): Promise<string[]> {
  const files = (await readdir(here, { recursive: true })).filter((path) => path.endsWith('.java')).sort();
  // What uses the tools, or APIs that are newer than the old version's, is for the newest only.
  return version === '4.1.2' ? files.filter((path) => !/^(tools|share)\//.test(path)) : [...files, SOAK];
}

/** librdkafka, for programs in Python. @throws Error with what the package client said */
export async function installConfluentKafka(): Promise<void> {
  await mkdir(cache, { recursive: true });
  await once('confluent-kafka', [CONFLUENT_KAFKA], installPython);
}

/** Kafka's Java clients, and the programs compiled against them. @throws Error with what Maven or the compiler said */
export async function installJava(version: JavaVersion): Promise<void> {
  await mkdir(cache, { recursive: true });
  await once(`java-${version}`, await sources('pom.xml'), () => installJars(version));
  const programs = await javaPrograms(version);
  await once(`classes-${version}`, await sources('pom.xml', ...programs), () => compile(version, programs));
}

/** Vitest's global setup. @throws Error with what the package client or compiler said */
export async function setup(): Promise<void> {
  await installConfluentKafka();
  for (const version of JAVA_VERSIONS) await installJava(version);
  await once(
    'franz-go',
    await sources('programs/go/go.mod', 'programs/go/go.sum', 'programs/go/traffic.go'),
    async () => {
      await run('go', ['build', '-o', goProgram[0], '.'], { cwd: join(here, 'programs', 'go') });
    },
  );
}
