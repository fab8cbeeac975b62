/**
 * An incremental fetch: looks at what is due in a session until there is enough to answer or the time is up. Whatever is
 * not due costs nothing.
 */
import { Errors } from '../../common/errors.ts';
import type { FetchParams } from '../../engine/diskless-engine.ts';
import type { Broker } from '../broker.ts';
import {
  type FetchLook,
  type FetchTarget,
  lookAt,
  type PartitionResponse,
  planFetch,
  recordBytesOf,
} from './fetch-look.ts';
import type { FetchSession } from './fetch-session.ts';

/** Partitions of a first look: more than an answer has room for, few enough for one turn of the main thread. */
const FIRST_LOOK_PARTITIONS = 4_096;
const NEXT_LOOK_FACTOR = 4;

export interface ChangedPartitions {
  readonly targets: readonly FetchTarget[];
  /** Response i belongs to target i. */
  readonly responses: readonly PartitionResponse[];
  release(): void;
}

/**
 * Resolves with what the client does not know yet, perhaps nothing; with undefined when another request of the session
 * came meanwhile, whose epoch has taken this one's place. @throws ApiError, or the signal's reason
 */
export async function fetchChanged(
  broker: Broker,
  session: FetchSession,
  params: FetchParams,
  signal: AbortSignal,
): Promise<ChangedPartitions | undefined> {
  const { epoch } = session;
  const deadlineMs = broker.time.monotonicMs() + params.maxWaitMs;
  let limit = FIRST_LOOK_PARTITIONS;
  for (;;) {
    const leftMs = session.isClosed ? 0 : Math.max(0, deadlineMs - broker.time.monotonicMs());
    const due = session.takeDue(limit);
    const look = await lookAtDue(broker, session, due, { ...params, minBytes: 0, maxWaitMs: leftMs }, signal);
    if (session.epoch !== epoch) {
      session.putBack(due);
      look.release();
      return undefined;
    }
    if (leftMs === 0 || isEnough(look, params)) return { ...session.answer(due, look), release: look.release };
    const wasCut = session.hasDue && due.length === limit;
    session.review(due, look);
    look.release();
    if (wasCut) limit *= NEXT_LOOK_FACTOR;
    else await session.nextChange(leftMs, signal);
  }
}

const NOTHING: FetchLook = { responses: [], release: () => {} };

async function lookAtDue(
  broker: Broker,
  session: FetchSession,
  due: ReturnType<FetchSession['takeDue']>,
  params: FetchParams,
  signal: AbortSignal,
): Promise<FetchLook> {
  if (due.length === 0) return NOTHING;
  try {
    const plan = planFetch(due, await broker.topics.view(), session.usesTopicIds);
    session.watch(due, plan);
    return await lookAt(broker, due, plan, params, signal);
  } catch (error) {
    session.putBack(due);
    throw error;
  }
}

/** An error is told at once. */
function isEnough({ responses }: FetchLook, { minBytes }: FetchParams): boolean {
  if (responses.some(({ errorCode }) => errorCode !== Errors.NONE)) return true;
  const recordBytes = responses.reduce((sum, response) => sum + recordBytesOf(response), 0);
  return recordBytes >= minBytes;
}
