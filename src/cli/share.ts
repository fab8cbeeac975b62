/** `shoal share describe GROUP`: a share group of a running broker, down to the locks on single records. */
import { askBroker, bootstrapFlags } from './bootstrap.ts';
import { type Command, UsageError } from './command.ts';
import { describeFlags, parseCommandLine } from './flags.ts';
import { readShareGroup } from './share-group-report.ts';
import { shareGroupText } from './share-group-text.ts';

const help = `Usage: shoal share describe GROUP [flags]

Describes a share group (a queue) of a running broker:

  members      who they are, and which partitions each reads
  partitions   START is the first record that is not done with. LAG counts the
               records that are not done with. HELD records have been handed to
               a member and are locked for it; WAITING ones came back or were
               left over, and are next; DONE ones wait for those before them.
  deliveries   how often the tracked records have been delivered: 5×1 2×3 says
               five of them once, two of them three times
  locks        which member holds which offsets, which delivery of them it is, and
               when the lock ends, after which another member gets them

A partition that nobody has fetched from since the broker started tells only where
it stands.

  shoal share describe orders-workers
  shoal share describe orders-workers --json

Flags:
${describeFlags(bootstrapFlags)}
`;

export const command: Command = {
  help,
  run: async (args) => {
    const { words, values } = parseCommandLine(bootstrapFlags, args, process.env);
    const [verb, groupId] = words;
    if (verb !== 'describe') {
      const given = verb === undefined ? 'a verb is needed' : `unknown verb ${verb}`;
      throw new UsageError(`${given}; describe GROUP is what there is`);
    }
    if (words.length !== 2 || !groupId) throw new UsageError('one GROUP is needed: shoal share describe GROUP');
    return askBroker(values, (client) => readShareGroup(client, groupId), shareGroupText);
  },
};
