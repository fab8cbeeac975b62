/**
 * Apache Kafka's own programs: its jars come from the Maven registry by mvn, once, into the cache folder under
 * node_modules; started from a class path, with the heap and collector that Kafka's scripts give them.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const pom = fileURLToPath(new URL('./pom.xml', import.meta.url));
const cache = fileURLToPath(new URL('../../node_modules/.cache/shoal-kafka', import.meta.url));

export interface KafkaJars {
  /** Of kafka_2.13, e.g. `4.4.0`. */
  readonly version: string;
  /** The arguments of `java` that run a main class with these jars. */
  command(mainClass: string, heap: string): string[];
}

/** @throws Error that says what is missing: a JDK, Maven or the registry */
export async function kafkaJars(): Promise<KafkaJars> {
  await run('java', ['-version']).catch(() => {
    throw new Error('there is no java');
  });
  const description = readFileSync(pom, 'utf8');
  const folder = join(cache, createHash('sha256').update(description).digest('hex').slice(0, 12));
  if (!existsSync(folder)) await download(folder);
  const version = /kafka_2\.13<\/artifactId>\s*<version>([^<]+)/.exec(description)![1]!;
  const collector = ['-server', '-XX:+UseG1GC', '-XX:MaxGCPauseMillis=20', '-XX:InitiatingHeapOccupancyPercent=35'];
  const quiet = '-Dorg.slf4j.simpleLogger.defaultLogLevel=error';
  const command = (mainClass: string, heap: string) => {
    return [`-Xms${heap}`, `-Xmx${heap}`, ...collector, quiet, '-cp', join(folder, '*'), mainClass];
  };
  return { version, command };
}

/** The folder appears whole or not at all, so that a broken download is not taken for a finished one. */
async function download(folder: string): Promise<void> {
  const partial = `${folder}.partial-${process.pid}`;
  try {
    await run('mvn', ['-q', '-B', '-f', pom, 'dependency:copy-dependencies', `-DoutputDirectory=${partial}`]);
    renameSync(partial, folder);
  } catch (error) {
    const { code, stdout } = error as NodeJS.ErrnoException & { stdout?: string };
    const reason = code === 'ENOENT' ? 'there is no mvn' : (stdout ?? '').split('\n').find(Boolean);
    throw new Error(`its jars could not be had: ${reason ?? (error as Error).message}`);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}
