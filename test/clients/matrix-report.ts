/** The matrix of clients as the test prints it and the README shows it. */
import { apis } from '../../src/protocol/apis.ts';
import type { ApiVersionsSent } from './recording-proxy.ts';

export interface MatrixRow {
  readonly client: string;
  readonly version: string;
  readonly protocol: string;
  readonly produced: number;
  /** By codec: the batches that lie in segments. */
  readonly batches: Readonly<Record<string, number>>;
  readonly readBy: readonly string[];
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`;
  return [line(header), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

const versions = (sent: ReadonlySet<number> | undefined): string =>
  sent === undefined ? '' : [...sent].sort((a, b) => a - b).join(', ');

/** One row a client; figures that differ from run to run are not in it. */
export function clientsTable(rows: readonly MatrixRow[], codecs: readonly string[]): string {
  const header = ['Client', 'Version', 'Group protocol', 'Records', ...codecs, 'Read by'];
  const everyone = rows.map(({ client }) => client);
  return table(
    header,
    rows.map(({ client, version, protocol, produced, batches, readBy }) => [
      client,
      version,
      protocol,
      produced.toLocaleString('en'),
      ...codecs.map((codec) => ((batches[codec] ?? 0) > 0 ? 'stored' : '')),
      everyone.every((reader) => readBy.includes(reader)) ? 'all' : readBy.join(', '),
    ]),
  );
}

/** One row an API: the versions that each client sent. */
export function apiVersionsTable(sent: ApiVersionsSent, clients: readonly string[]): string {
  const used = Object.values(apis)
    .sort((a, b) => a.key - b.key)
    .filter(({ key }) => clients.some((name) => sent.get(name)?.has(key)));
  return table(
    ['API', ...clients],
    used.map(({ key, name }) => [name, ...clients.map((client) => versions(sent.get(client)?.get(key)))]),
  );
}
