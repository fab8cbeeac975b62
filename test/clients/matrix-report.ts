/** The matrix of clients as the tests print it and the README shows it. */
import { writeFileSync } from 'node:fs';
import { apis } from '../../src/protocol/apis.ts';
import { markdownTable } from '../support/markdown-table.ts';
import { readme, section, withSection } from '../support/readme-tables.ts';
import type { ApiVersionsSent } from './recording-proxy.ts';

export interface MatrixRow {
  readonly client: string;
  readonly version: string;
  readonly protocol: string;
  readonly produced: number;
  /** Those that its batches are stored with. */
  readonly codecs: readonly string[];
  readonly readBy: readonly string[];
}

/** One row a client. */
export function clientsTable(rows: readonly MatrixRow[], codecs: readonly string[]): string {
  const header = ['Client', 'Version', 'Group protocol', 'Records', ...codecs, 'Read by'];
  const everyone = rows.map(({ client }) => client);
  return markdownTable(
    header,
    rows.map(({ client, version, protocol, produced, codecs: stored, readBy }) => [
      client,
      version,
      protocol,
      produced.toLocaleString('en'),
      ...codecs.map((codec) => (stored.includes(codec) ? 'stored' : '')),
      everyone.every((reader) => readBy.includes(reader)) ? 'all' : readBy.join(', '),
    ]),
  );
}

/** API name → client → the newest version that it sends. */
export type ApiVersionsTable = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** The table of API versions in a text, to which a run may add: not every run meets every case. */
export function parseApiVersions(text: string): ApiVersionsTable {
  const [header, ...rows] = text
    .slice(text.indexOf('| API '))
    .split('\n')
    .filter((line) => /^\| \w/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const cells = (row: readonly string[]) =>
    row.flatMap((cell, i) => (i > 0 && cell !== '' ? [[header![i]!, Number(cell)] as const] : []));
  return new Map(rows.map((row) => [row[0]!, new Map(cells(row))]));
}

/** One row an API: the newest version that each client has sent, in this run or in one before. */
export function apiVersionsTable(
  sent: ApiVersionsSent,
  known: ApiVersionsTable,
  clients: readonly string[],
  isShown: (api: string) => boolean = () => true,
): string {
  const rows = Object.values(apis)
    .filter(({ name }) => isShown(name))
    .sort((a, b) => a.key - b.key)
    .map(({ key, name }) => {
      const newest = (client: string) =>
        Math.max(known.get(name)?.get(client) ?? -1, ...(sent.get(client)?.get(key) ?? []));
      return [name, ...clients.map(newest).map((version) => (version < 0 ? '' : String(version)))];
    });
  return markdownTable(
    ['API', ...clients],
    rows.filter(([, ...cells]) => cells.some((cell) => cell !== '')),
  );
}

/** Prints what a section of the README should hold, and writes it there when SHOAL_README is `write`. @returns what it holds */
export function showInReadme(name: string, content: string): string {
  process.stderr.write(`${content}\n`);
  if (process.env.SHOAL_README === 'write') {
    writeFileSync(new URL('../../README.md', import.meta.url), withSection(readme(), name, `${content}\n`));
  }
  return section(readme(), name).trimEnd();
}
