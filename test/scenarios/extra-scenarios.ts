/** Runs the small cases of the neighbouring rules (`extra/`): one function a kind, against the real functions. */
import { type ErrorCode, Errors, errorName } from '../../src/common/errors.ts';
import { parseShareAutoOffsetReset } from '../../src/common/group-config.ts';
import { seededRandom } from '../../src/common/random.ts';
import { validateAcknowledgements } from '../../src/share/acknowledge.ts';
import { throttleThreshold } from '../../src/share/delivery-throttle.ts';
import { RecordState, recordStateName } from '../../src/share/record-state.ts';
import {
  type CoordinatorShareState,
  deleteState,
  initializeState,
  type Operation,
  readState,
  summarizeState,
  writeState,
} from '../../src/share/share-coordinator-state.ts';
import { partitionMaxBytes, rotatePartitions, sliceLogBatches } from '../../src/share/share-fetch-order.ts';
import { type ShareSessionOutcome, ShareSessions } from '../../src/share/share-session.ts';
import type { StateBatch } from '../../src/share/share-window.ts';
import { combineStateBatches } from '../../src/share/state-batch-combiner.ts';
import { type Differences, fields, type Json } from './compare.ts';

type CaseRunner = (json: Json, differences: Differences) => void;

const nameOrNull = (code: ErrorCode): string | null => (code === Errors.NONE ? null : errorName(code));
const fromJson = (batches: Json[]): StateBatch[] =>
  batches.map((batch) => ({ ...batch, state: RecordState[batch.state as keyof typeof RecordState] }) as StateBatch);
const toJson = (batches: readonly StateBatch[]): Json[] =>
  batches.map((batch) => ({ ...batch, state: recordStateName(batch.state) }));
const pairs = (list: [number, number][]) => list.map(([first, last]) => ({ first, last }));

const CASE = ['name', 'about', 'confidence', 'tags', 'note', 'expect'];

function steps(json: Json, differences: Differences, run: (step: Json) => void): void {
  if (json.steps.length === 0) throw new Error('a case without steps shows nothing');
  (json.steps as Json[]).forEach((step, index) => {
    differences.at(`${json.name} step ${index} ${step.op}`);
    run(step);
  });
}

const combiner: CaseRunner = (json, differences) => {
  fields(json, [...CASE, 'stateBatches', 'newBatches', 'startOffset']);
  const combined = combineStateBatches(fromJson(json.stateBatches), fromJson(json.newBatches), json.startOffset);
  differences.equal('combined', toJson(combined), json.expect);
};

const ackValidation: CaseRunner = (json, differences) => {
  fields(json, [...CASE, 'version', 'isRenewAck', 'batches']);
  const error = validateAcknowledgements(json.batches, json.version, json.isRenewAck);
  differences.equal('error', nameOrNull(error), json.expect.error);
};

const rotation: CaseRunner = (json, differences) => {
  fields(json, [...CASE, 'sessionEpoch', 'partitions']);
  differences.equal('order', rotatePartitions(json.partitions, json.sessionEpoch), json.expect);
};

const partitionBytes: CaseRunner = (json, differences) => {
  fields(json, [...CASE, 'requestMaxBytes', 'partitions', 'acquiredPartitions', 'expectMultiset']);
  for (let seed = 1; seed <= 10; seed++) {
    const sizes = partitionMaxBytes(json.requestMaxBytes, json.partitions, json.acquiredPartitions, seededRandom(seed));
    const sorted = sizes.sort((a, b) => a - b);
    differences.equal(
      `bytes (seed ${seed})`,
      sorted,
      [...json.expectMultiset].sort((a: number, b: number) => a - b),
    );
  }
};

const recordSlicing: CaseRunner = (json, differences) => {
  fields(json, [...CASE, 'batches', 'acquired']);
  differences.equal('slice', sliceLogBatches(pairs(json.batches), pairs(json.acquired)), json.expect);
};

const threshold: CaseRunner = (json, differences) => {
  fields(json, [...CASE, 'maxDeliveryCount', 'expectThrottleFromDeliveryCount']);
  differences.equal('threshold', throttleThreshold(json.maxDeliveryCount), json.expectThrottleFromDeliveryCount);
};

const offsetReset: CaseRunner = (json, differences) => {
  fields(json, [...CASE, 'value']);
  const parsed = parseShareAutoOffsetReset(json.value);
  differences.equal('parsed', parsed ? { valid: true, ...parsed } : { valid: false }, json.expect);
};

const sessions: CaseRunner = (json, differences) => {
  fields(json, [...CASE, 'maxSessions', 'steps']);
  const live = new ShareSessions(json.maxSessions);
  const group = 'group';
  const outcomeJson = (outcome: ShareSessionOutcome): Json => ({
    error: nameOrNull(outcome.error),
    ...(outcome.context ? { context: outcome.context } : {}),
    ...(outcome.context === 'final' ? { releasesRecords: true } : {}),
    ...(outcome.context === 'new' || outcome.context === 'existing'
      ? { nextEpoch: outcome.session.epoch, sessionPartitions: [...outcome.session.partitions] }
      : {}),
  });
  /** Only what the step expects is compared; an expectation that the outcome lacks is a difference. */
  const expectFields = (actual: Json, expected: Json): void => {
    fields(expected, ['error', 'context', 'nextEpoch', 'sessionPartitions', 'releasesRecords']);
    for (const name of Object.keys(expected)) differences.equal(name, actual[name], expected[name]);
  };
  steps(json, differences, (step) => {
    fields(step, ['op', 'member', 'epoch', 'partitions', 'forget', 'acks', 'expect', 'note']);
    if (step.op === 'shareFetch') {
      const request = { groupId: group, memberId: step.member, epoch: step.epoch, hasAcknowledgements: step.acks };
      expectFields(
        outcomeJson(live.fetch({ ...request, added: step.partitions, forgotten: step.forget })),
        step.expect,
      );
    } else if (step.op === 'shareAcknowledge') {
      expectFields(outcomeJson(live.acknowledge(group, step.member, step.epoch)), step.expect);
    } else if (step.op === 'disconnect') {
      const releasesRecords = live.end(group, step.member) !== undefined;
      if (step.expect) expectFields({ error: null, releasesRecords }, step.expect);
    } else if (step.op === 'forceEpoch') {
      live.get(group, step.member)!.epoch = step.epoch;
    } else {
      throw new Error(`unknown operation ${step.op}`);
    }
  });
};

const shareCoordinator: CaseRunner = (json, differences) => {
  fields(json, [...CASE, 'updateRecordsPerSnapshot', 'steps']);
  let state: CoordinatorShareState | undefined;
  const run = (step: Json): Operation => {
    switch (step.op) {
      case 'initialize':
        return initializeState(state, step.stateEpoch, step.startOffset);
      case 'read':
        return readState(state, step.leaderEpoch);
      case 'write': {
        const update = { ...step, stateBatches: fromJson(step.stateBatches) } as unknown as Parameters<
          typeof writeState
        >[1];
        return writeState(state, update, json.updateRecordsPerSnapshot);
      }
      case 'summary':
        return { error: Errors.NONE, state, record: null };
      case 'delete':
        return deleteState(state);
      default:
        throw new Error(`unknown operation ${step.op}`);
    }
  };
  steps(json, differences, (step) => {
    fields(step, [
      'op',
      'stateEpoch',
      'leaderEpoch',
      'startOffset',
      'deliveryCompleteCount',
      'stateBatches',
      'expect',
      'note',
    ]);
    const operation = run(step);
    state = operation.state;
    const seen =
      step.op === 'summary' ? summarizeState(state) : { ...state, stateBatches: toJson(state?.stateBatches ?? []) };
    const actual: Json = { ...seen, error: nameOrNull(operation.error), record: operation.record };
    fields(step.expect, [
      'error',
      'record',
      'startOffset',
      'stateEpoch',
      'leaderEpoch',
      'deliveryCompleteCount',
      'stateBatches',
    ]);
    for (const name of Object.keys(step.expect)) differences.equal(name, actual[name], step.expect[name]);
  });
};

/** Kind of an extra file → how one of its cases is run. */
export const extraKinds: Readonly<Record<string, CaseRunner>> = {
  combiner,
  sessions,
  'ack-validation': ackValidation,
  'share-coordinator': shareCoordinator,
  rotation,
  'partition-max-bytes': partitionBytes,
  'record-slicing': recordSlicing,
  'throttle-threshold': threshold,
  'offset-reset': offsetReset,
};
