/**
 * `npm run fuzz -- [--seed N] [--minutes M] [--iterations N]`: random and mutated batches against the kernel, judged by the
 * oracle. Every iteration is determined by its seed, which a finding prints, and `--seed` alone replays.
 *
 * Two targets take turns: `batch`, whose verdict must be the oracle's and whose stored form must satisfy it; and `payload`,
 * compressed bytes with any edits, which must end in a Kafka error or in a batch the oracle accepts, and never in a write
 * outside what the kernel owns. Ends with code 1 at the first finding, and when nothing was exercised.
 */
import { parseArgs } from 'node:util';
import { Errors, errorName } from '../../src/common/errors.ts';
import { type Random, randomInt, seededRandom } from '../../src/common/random.ts';
import type { BatchVerdict } from '../../src/record/batch-verdict.ts';
import { type OracleParts, parseHeader, validateRecordBatch } from '../../src/record/record-batch.ts';
import type { ValidationOptions } from '../../src/record/validation.ts';
import { randomBatch, randomOptions } from '../support/random-batches.ts';
import { sealCrc } from '../support/record-batches.ts';
import { oracleParts, TestKernel } from '../support/test-kernel.ts';

/** The generator takes 32 bits. */
const MAX_SEED = 2 ** 32 - 1;

const help = `Usage: npm run fuzz -- [options]

Random and mutated record batches through the record kernel. The verdict over each
must be that of a plain TypeScript parser, what is accepted must stay accepted, and
nothing outside the batch may be written. An iteration depends on its seed alone.

  --seed N        the first iteration's seed, 0 to ${MAX_SEED} (default: from the
                  clock, printed); alone it replays that one iteration
  --minutes M     how long to look, fractions allowed (default 1)
  --iterations N  stop after this many, if that is sooner

  npm run fuzz -- --seed 7 --minutes 5      five minutes from seed 7 on
  npm run fuzz -- --seed 4711               what iteration 4711 finds, again

Ends with 1 at the first finding, whose seed it prints, and when nothing was
exercised; with 0 otherwise.
`;

/** Bytes on both sides of the input that no validation may touch. */
const GUARD_BYTES = 256;
const GUARD = 0xa5;

class Finding extends Error {}

function check(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Finding(message);
}

const text = (value: unknown): string =>
  JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? `${item}n` : item));

class Fuzzer {
  readonly #test = new TestKernel(4 * 1024 * 1024);
  readonly #parts: OracleParts;
  readonly verdicts = new Map<string, number>();

  constructor(parts: OracleParts) {
    this.#parts = parts;
  }

  /** One iteration, wholly determined by its seed. @throws Finding */
  run(seed: number): void {
    const random = seededRandom(seed);
    const edited = random.next() < 0.5;
    const batch = randomBatch(random, edited ? [1, 2, 3, 4] : [0, 0, 1, 2, 3, 4]);
    const options = randomOptions(random);
    if (edited) editPayload(random, batch);
    const verdict = this.#validate(batch, options, randomInt(random, 0, 15));
    this.verdicts.set(errorName(verdict.error), (this.verdicts.get(errorName(verdict.error)) ?? 0) + 1);
    if (!edited) this.#compare(batch, options, verdict);
  }

  #validate(batch: Buffer, options: ValidationOptions, shift: number): BatchVerdict {
    const { kernel, address } = this.#test;
    const start = address + shift + GUARD_BYTES;
    kernel.bytes.fill(GUARD, start - GUARD_BYTES, start + batch.length + GUARD_BYTES);
    const verdict = this.#test.validate(batch, options, shift + GUARD_BYTES);
    const guarded = (from: number): boolean =>
      kernel.bytes.subarray(from, from + GUARD_BYTES).every((byte) => byte === GUARD);
    check(guarded(start - GUARD_BYTES), 'bytes before the input were written');
    check(guarded(start + batch.length), 'bytes after the input were written');
    check(verdict.error !== Errors.UNKNOWN_SERVER_ERROR, 'UNKNOWN_SERVER_ERROR for bytes that a producer got wrong');
    if (verdict.error === Errors.NONE)
      this.#checkStored(this.#test.stored(verdict, shift + GUARD_BYTES), options, verdict);
    else check(kernel.bytes.subarray(start, start + batch.length).equals(batch), 'a refused batch was written');
    return verdict;
  }

  #checkStored(stored: Buffer, options: ValidationOptions, verdict: BatchVerdict): void {
    const header = parseHeader(stored);
    check(this.#parts.crc32c(stored.subarray(21)) === header.crc, 'the stored CRC is not that of the stored bytes');
    check(verdict.crc === header.crc, 'the verdict has another CRC than the batch');
    check(header.maxTimestamp === verdict.maxTimestamp, 'the stored max timestamp is not the verdict’s');
    const again = this.#test.validate(stored, options);
    check(again.error === Errors.NONE && again.rebuilt === undefined, `what is stored is refused: ${text(again)}`);
  }

  #compare(batch: Buffer, options: ValidationOptions, verdict: BatchVerdict): void {
    if (this.#test.outgrew(batch, options, verdict)) return;
    const expected = validateRecordBatch(batch, options, this.#parts);
    const { error, recordIndex, recordErrors, maxTimestamp, offsetOfMaxTimestampDelta } = verdict;
    const own = {
      error,
      recordIndex,
      badRecords: recordErrors.map(({ batchIndex }) => batchIndex),
      maxTimestamp,
      offsetOfMaxTimestampDelta,
      renumber: verdict.rebuilt !== undefined,
    };
    const { sizeBytes: _, ...oracle } = expected;
    for (const [field, value] of Object.entries(own)) {
      const wanted = oracle[field as keyof typeof oracle];
      check(String(value) === String(wanted), `${field}: kernel ${text(own)}, oracle ${text(oracle)}`);
    }
  }
}

/** Edits compressed bytes and makes the CRC right again, so that the decompressors see them. */
function editPayload(random: Random, batch: Buffer): void {
  if (batch.length <= 62) return;
  for (let i = randomInt(random, 1, 4); i > 0; i--) {
    const at = randomInt(random, 61, batch.length - 1);
    batch[at] = random.next() < 0.5 ? batch[at]! ^ (1 << randomInt(random, 0, 7)) : randomInt(random, 0, 255);
  }
  sealCrc(batch);
}

interface Settings {
  readonly seed: number;
  readonly iterations: number;
  readonly minutes: number;
}

/** Undefined when only help was asked for. @throws Error naming the option that is wrong */
function readSettings(): Settings | undefined {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string' },
      minutes: { type: 'string' },
      iterations: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return undefined;
  const { seed, minutes, iterations } = values;
  const isReplay = seed !== undefined && minutes === undefined && iterations === undefined;
  return {
    seed: seed === undefined ? Date.now() % 2 ** 31 : number('seed', seed, { min: 0, max: MAX_SEED, isWhole: true }),
    minutes: minutes === undefined ? 1 : number('minutes', minutes, { min: 0, max: 100_000, isWhole: false }),
    iterations: isReplay
      ? 1
      : iterations === undefined
        ? Number.POSITIVE_INFINITY
        : number('iterations', iterations, { min: 0, max: Number.MAX_SAFE_INTEGER, isWhole: true }),
  };
}

function number(
  name: string,
  text: string,
  { min, max, isWhole }: { min: number; max: number; isWhole: boolean },
): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= min && value <= max && (!isWhole || Number.isInteger(value))) return value;
  throw new Error(`--${name} is a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}, not "${text}"; see --help`);
}

async function main(): Promise<number> {
  const settings = readSettings();
  if (!settings) {
    process.stdout.write(help);
    return 0;
  }
  const fuzzer = new Fuzzer(await oracleParts());
  const { seed: first, iterations, minutes } = settings;
  const deadlineMs = performance.now() + minutes * 60_000;
  let done = 0;
  for (; done < iterations && performance.now() < deadlineMs; done++) {
    const seed = (first + done) % (MAX_SEED + 1);
    try {
      fuzzer.run(seed);
    } catch (error) {
      process.stdout.write(`seed ${seed}: ${error instanceof Error ? (error.stack ?? error.message) : error}\n`);
      process.stdout.write(`replay: npm run fuzz -- --seed ${seed}\n`);
      return 1;
    }
  }
  if (done === 0) {
    process.stderr.write('fuzz: nothing was exercised: no iteration was to be run, or no time left for one\n');
    return 1;
  }
  const counts = [...fuzzer.verdicts].map(([name, count]) => `${name} ${count}`).join(', ');
  process.stdout.write(`${done} iterations from seed ${first} on, no finding. Verdicts: ${counts}\n`);
  return 0;
}

process.exitCode = await main().catch((error: Error) => {
  process.stderr.write(`fuzz: ${error.message}\n`);
  return 1;
});
