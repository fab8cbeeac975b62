/**
 * What an S3 double can do wrong, and when. A schedule decides for every request that arrives; a seeded one can be
 * replayed from its seed.
 */
import { type Random, randomInt, seededRandom } from '../../../src/common/random.ts';

/** Before anything was done: the request has no effect. */
export type FaultBefore =
  | { readonly at: 'before'; readonly do: 'reset' | 'stall' | 'garbage' }
  | {
      readonly at: 'before';
      readonly do: 'status';
      readonly status: number;
      readonly code: string;
      readonly retryAfter?: string;
    }
  /** Answers 503 before it has read the body, then reads on. */
  | { readonly at: 'before'; readonly do: 'early-answer' };

/** In the middle of the answer's body, or its head made wrong. Without a body these act as a reset. */
export interface FaultDuring {
  readonly at: 'during';
  readonly do:
    | 'reset'
    | 'stall'
    /** A whole answer that promises and sends fewer bytes. */
    | 'short'
    | 'long'
    /** The same without a Content-Length to tell it by. */
    | 'short-chunked'
    | 'long-chunked'
    | 'wrong-range'
    | 'whole-object'
    | 'no-range-header'
    /** Right head and length, but sent so slowly that every step is in time. */
    | 'trickle';
}

/** After the request has had its effect: only the answer is lost. */
export interface FaultAfter {
  readonly at: 'after';
  readonly do: 'reset' | 'stall';
}

/** Nothing wrong, only late. */
export interface Delay {
  readonly at: 'delay';
  readonly ms: number;
}

export type Fault = FaultBefore | FaultDuring | FaultAfter | Delay;

/** Asked once for each request. */
export type FaultSchedule = (method: string, path: string) => Fault | undefined;

/** The name of a fault for counts: `during short`, `before status 503`. */
export function faultName(fault: Fault): string {
  if (fault.at === 'delay') return 'delay';
  return `${fault.at} ${fault.do}${fault.do === 'status' ? ` ${fault.status}` : ''}`;
}

const STATUSES: readonly (readonly [number, string])[] = [
  [500, 'InternalError'],
  [502, ''],
  [503, 'SlowDown'],
  [503, 'ServiceUnavailable'],
  [504, ''],
  [429, 'TooManyRequests'],
  [409, 'OperationAborted'],
  [408, 'RequestTimeout'],
];

const OTHERS: readonly Fault[] = [
  { at: 'before', do: 'reset' },
  { at: 'before', do: 'stall' },
  { at: 'before', do: 'garbage' },
  { at: 'before', do: 'early-answer' },
  { at: 'during', do: 'reset' },
  { at: 'during', do: 'stall' },
  { at: 'during', do: 'short' },
  { at: 'during', do: 'long' },
  { at: 'during', do: 'short-chunked' },
  { at: 'during', do: 'long-chunked' },
  { at: 'during', do: 'wrong-range' },
  { at: 'during', do: 'whole-object' },
  { at: 'during', do: 'no-range-header' },
  { at: 'after', do: 'reset' },
  { at: 'after', do: 'stall' },
];

export interface SeededFaults {
  /** Chance of a fault per request. */
  readonly rate: number;
  /** Share of stalls among the faults is as drawn, unless false: they cost their deadlines in time. @default true */
  readonly stalls?: boolean;
}

/** Every kind of fault, at random from one seed. */
export function seededFaults(seed: number, { rate, stalls = true }: SeededFaults): FaultSchedule {
  const random = seededRandom(seed);
  const others = stalls ? OTHERS : OTHERS.filter((fault) => !('do' in fault) || fault.do !== 'stall');
  return () => (random.next() < rate ? drawFault(random, others) : undefined);
}

function drawFault(random: Random, others: readonly Fault[]): Fault {
  if (random.next() < 0.3) {
    const [status, code] = STATUSES[randomInt(random, 0, STATUSES.length - 1)]!;
    return { at: 'before', do: 'status', status, code };
  }
  return others[randomInt(random, 0, others.length - 1)]!;
}
