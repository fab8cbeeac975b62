/** `shoal groups`: every group of a running broker, whatever its type. Asks through Kafka's own APIs. */
import { consumerGroupDescribe } from '../protocol/messages/consumer-group-describe.ts';
import { describeGroups } from '../protocol/messages/describe-groups.ts';
import { listGroups } from '../protocol/messages/list-groups.ts';
import { shareGroupDescribe } from '../protocol/messages/share-group-describe.ts';
import { askBroker, bootstrapFlags } from './bootstrap.ts';
import type { Command } from './command.ts';
import { describeFlags, parseFlags } from './flags.ts';
import { type KafkaClient, requireNone } from './kafka-client.ts';
import { table } from './table.ts';

const help = `Usage: shoal groups [flags]

Lists the groups of a running broker: consumer groups of the classic protocol
(classic) and of the new one (consumer), and share groups (share), which are
queues. Says for each what state it is in and how many members it has.

  shoal groups
  shoal groups --json
  shoal share describe GROUP      tells more about a share group

Flags:
${describeFlags(bootstrapFlags)}
`;

export const command: Command = {
  help,
  run: async (args) => askBroker(parseFlags(bootstrapFlags, args, process.env), readGroups, text),
};

interface GroupLine {
  readonly group: string;
  readonly type: string;
  readonly state: string;
  readonly members: number;
}

async function readGroups(client: KafkaClient): Promise<GroupLine[]> {
  const { errorCode, groups } = await client.call(listGroups, {});
  requireNone(errorCode, null, 'the groups');
  const idsOf = (type: string): string[] =>
    groups.filter(({ groupType }) => groupType === type).map(({ groupId }) => groupId);
  const described = [
    ...(await ask(idsOf('classic'), (ids) => client.call(describeGroups, { groups: ids }))),
    ...(await ask(idsOf('consumer'), (groupIds) => client.call(consumerGroupDescribe, asked(groupIds)))),
    ...(await ask(idsOf('share'), (groupIds) => client.call(shareGroupDescribe, asked(groupIds)))),
  ];
  const sizes = new Map(described.map(({ groupId, members }) => [groupId, members.length]));
  return groups
    .map(({ groupId, groupType, groupState }) => {
      return { group: groupId, type: groupType, state: groupState, members: sizes.get(groupId) ?? 0 };
    })
    .sort((a, b) => (a.group < b.group ? -1 : 1));
}

const asked = (groupIds: readonly string[]) => ({ groupIds, includeAuthorizedOperations: false });

/** A group may end between the list and the question; then it has no members. */
async function ask<G>(
  groupIds: readonly string[],
  describe: (groupIds: readonly string[]) => Promise<{ readonly groups: readonly G[] }>,
): Promise<readonly G[]> {
  return groupIds.length === 0 ? [] : (await describe(groupIds)).groups;
}

function text(groups: readonly GroupLine[]): string {
  const rows = groups.map(({ group, type, state, members }) => [group, type, state, members]);
  return table(['GROUP', 'TYPE', 'STATE', 'MEMBERS'], rows) || 'no groups\n';
}
