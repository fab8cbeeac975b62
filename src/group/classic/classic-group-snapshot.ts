/** A classic group as it is stored: JSON, bytes in base64. Written and read by the state machine only. */
import type { ClassicMember } from './classic-members.ts';

export type StoredClassicState = 'Empty' | 'CompletingRebalance' | 'Stable';

export interface ClassicGroupSnapshot {
  readonly generationId: number;
  readonly state: StoredClassicState;
  readonly protocolType: string;
  readonly protocolName: string | null;
  readonly leaderId: string | null;
  /** When the group last became what it is, wall clock; offsets of an empty group expire from here. */
  readonly stateSinceMs: number;
  readonly members: readonly ClassicMember[];
}

interface StoredMember {
  readonly memberId: string;
  readonly groupInstanceId: string | null;
  readonly clientId: string;
  readonly clientHost: string;
  readonly sessionTimeoutMs: number;
  readonly rebalanceTimeoutMs: number;
  readonly protocols: readonly (readonly [name: string, metadata: string])[];
  readonly assignment: string;
}

const toText = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const toBytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'));

export function writeClassicSnapshot(snapshot: ClassicGroupSnapshot): string {
  const members = snapshot.members.map(
    (member): StoredMember => ({
      memberId: member.memberId,
      groupInstanceId: member.groupInstanceId,
      clientId: member.clientId,
      clientHost: member.clientHost,
      sessionTimeoutMs: member.sessionTimeoutMs,
      rebalanceTimeoutMs: member.rebalanceTimeoutMs,
      protocols: member.protocols.map(({ name, metadata }) => [name, toText(metadata)]),
      assignment: toText(member.assignment),
    }),
  );
  return JSON.stringify({ ...snapshot, members });
}

/** @throws SyntaxError or TypeError when `text` is not what `writeClassicSnapshot` wrote */
export function readClassicSnapshot(text: string): ClassicGroupSnapshot {
  const stored = JSON.parse(text) as ClassicGroupSnapshot & { members: readonly StoredMember[] };
  return { ...stored, members: stored.members.map(restoreMember) };
}

function restoreMember(stored: StoredMember): ClassicMember {
  return {
    ...stored,
    protocols: stored.protocols.map(([name, metadata]) => ({ name, metadata: toBytes(metadata) })),
    assignment: toBytes(stored.assignment),
    isNew: false,
    awaitingJoin: undefined,
    awaitingSync: undefined,
  };
}
