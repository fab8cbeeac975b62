/** What can be set on the fetch side, with defaults. Plain values, validated once. */
import { ApiError } from '../common/errors.ts';

export interface FetchSettings {
  /** The price of one GET expressed in bytes read: a gap smaller than this is read rather than skipped. */
  readonly fetchRequestCostBytes: number;
  /** The largest range one GET asks for. */
  readonly fetchMaxRangeBytes: number;
  readonly fetchMaxInFlightGets: number;
  /** Bytes of GETs in flight; at most a quarter of the memory for fetches is used. */
  readonly fetchMaxInFlightBytes: number;
  /** While half of the GETs are busy, how long ranges are collected before they are planned; 0: within the turn only. */
  readonly fetchCollectWindowMs: number;
  /** How long a GET waits for memory before its fetch is answered without it. */
  readonly fetchMemoryWaitMs: number;
  /** The local view's size, overheads included; at most three quarters of the memory for fetches are used. */
  readonly fetchLocalViewBytes: number;
  /** How far readahead runs before one sequential reader; 0 switches it off. */
  readonly fetchReadaheadMaxBytes: number;
  /** Price of 1,000 GETs in dollars, for explanations. */
  readonly priceDollarsPer1000Gets: number;
  /** Price of a GiB read in dollars, for explanations. */
  readonly priceDollarsPerGib: number;
  /** Expected time to a GET's first byte, for explanations. */
  readonly expectedFirstByteMs: number;
  /** Expected throughput of one GET, for explanations. */
  readonly expectedBytesPerSecond: number;
}

const MIB = 1024 * 1024;

export const defaultFetchSettings: FetchSettings = Object.freeze({
  fetchRequestCostBytes: MIB / 2,
  fetchMaxRangeBytes: 8 * MIB,
  fetchMaxInFlightGets: 64,
  fetchMaxInFlightBytes: 64 * MIB,
  fetchCollectWindowMs: 0,
  fetchMemoryWaitMs: 500,
  fetchLocalViewBytes: Number.MAX_SAFE_INTEGER,
  fetchReadaheadMaxBytes: 8 * MIB,
  priceDollarsPer1000Gets: 0.0004,
  priceDollarsPerGib: 0,
  expectedFirstByteMs: 25,
  expectedBytesPerSecond: 85 * MIB,
});

const integers: readonly (readonly [keyof FetchSettings, min: number])[] = [
  ['fetchRequestCostBytes', 0],
  ['fetchMaxRangeBytes', 4096],
  ['fetchMaxInFlightGets', 1],
  ['fetchMaxInFlightBytes', 4096],
  ['fetchCollectWindowMs', 0],
  ['fetchMemoryWaitMs', 0],
  ['fetchLocalViewBytes', 0],
  ['fetchReadaheadMaxBytes', 0],
];
const amounts: readonly (keyof FetchSettings)[] = [
  'priceDollarsPer1000Gets',
  'priceDollarsPerGib',
  'expectedFirstByteMs',
  'expectedBytesPerSecond',
];

/** The defaults with what the caller set. @throws ApiError INVALID_CONFIG naming the setting and its bounds */
export function fetchSettings(overrides: Partial<FetchSettings> = {}): FetchSettings {
  const settings = { ...defaultFetchSettings, ...overrides };
  for (const [name, min] of integers) {
    if (!Number.isSafeInteger(settings[name]) || settings[name] < min) {
      throw new ApiError('INVALID_CONFIG', `${name} is ${settings[name]}: an integer of at least ${min} is needed`);
    }
  }
  for (const name of amounts) {
    if (!Number.isFinite(settings[name]) || settings[name] < 0) {
      throw new ApiError('INVALID_CONFIG', `${name} is ${settings[name]}: a number of 0 or more is needed`);
    }
  }
  return Object.freeze(settings);
}
