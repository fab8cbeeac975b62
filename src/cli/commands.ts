/** The commands of `shoal`: one line each. A command's code is loaded when it is run. */
import type { Command } from './command.ts';

export interface CommandEntry {
  /** For the list in `shoal --help`. */
  readonly summary: string;
  readonly load: () => Promise<{ readonly command: Command }>;
}

export const commands: Readonly<Record<string, CommandEntry>> = {
  serve: { summary: 'run a broker that any Kafka client can use', load: () => import('./serve.ts') },
  groups: { summary: 'list the groups of a running broker', load: () => import('./groups.ts') },
  share: {
    summary: 'describe a share group (a queue), down to the locks on records',
    load: () => import('./share.ts'),
  },
  doctor: { summary: 'check the database, and what is stored against it', load: () => import('./doctor.ts') },
  explain: { summary: 'say what a fetch would do and cost', load: () => import('./explain.ts') },
  dump: { summary: 'print the record batches in a file, and what is wrong with them', load: () => import('./dump.ts') },
};
