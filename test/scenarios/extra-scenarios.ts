/** Runs the small cases of the neighbouring rules (`extra/`): one function a kind, against the real functions. */
import { Errors } from '../../src/common/errors.ts';
import { parseShareAutoOffsetReset } from '../../src/common/group-config.ts';
import { seededRandom } from '../../src/common/random.ts';
import { validateAcknowledgements } from '../../src/share/acknowledge.ts';
import { throttleThreshold } from '../../src/share/delivery-throttle.ts';
import { recordStateName } from '../../src/share/record-state.ts';
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
import { type Differences, describedFields, expectation, fields, type Json } from './compare.ts';
import { nameOrNull, stateBatchFromJson } from './scenario-json.ts';

type CaseRunner = (json: Json, differences: Differences) => void;

const fromJson = (batches: Json[]): StateBatch[] => batches.map(stateBatchFromJson);
const toJson = (batches: readonly StateBatch[]): Json[] =>
  batches.map((batch) => ({ ...batch, state: recordStateName(batch.state) }));
const pairs = (list: [number, number][]) => list.map(([first, last]) => ({ first, last }));

function steps(json: Json, differences: Differences, run: (step: Json) => void): void {
  if (!json.steps?.length) throw new Error('a case without steps shows nothing');
  (json.steps as Json[]).forEach((step, index) => {
    differences.at(`${json.name} step ${index} ${step.op}`);
    run(step);
  });
}

/** Only what a step expects is compared; an expectation that the outcome lacks is a difference. */
function expectFields(differences: Differences, actual: Json, expected: Json): void {
  for (const name of Object.keys(expected)) differences.equal(name, actual[name], expected[name]);
}

const combiner: CaseRunner = (json, differences) => {
  describedFields(json, ['expect', 'stateBatches', 'newBatches', 'startOffset']);
  const combined = combineStateBatches(
    fromJson(json.stateBatches ?? []),
    fromJson(json.newBatches ?? []),
    json.startOffset ?? -1,
  );
  differences.equal('combined', toJson(combined), json.expect);
};

const ackValidation: CaseRunner = (json, differences) => {
  describedFields(json, ['expect', 'version', 'isRenewAck', 'batches']);
  const error = validateAcknowledgements(json.batches, json.version ?? 2, json.isRenewAck ?? false);
  differences.equal('error', nameOrNull(error), json.expect.error);
};

const rotation: CaseRunner = (json, differences) => {
  describedFields(json, ['expect', 'sessionEpoch', 'partitions']);
  differences.equal('order', rotatePartitions(json.partitions, json.sessionEpoch), json.expect);
};

const partitionBytes: CaseRunner = (json, differences) => {
  describedFields(json, ['expect', 'requestMaxBytes', 'partitions', 'acquiredPartitions', 'expectMultiset']);
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
  describedFields(json, ['expect', 'batches', 'acquired']);
  differences.equal('slice', sliceLogBatches(pairs(json.batches), pairs(json.acquired)), json.expect);
};

const threshold: CaseRunner = (json, differences) => {
  describedFields(json, ['expect', 'maxDeliveryCount', 'expectThrottleFromDeliveryCount']);
  differences.equal('threshold', throttleThreshold(json.maxDeliveryCount), json.expectThrottleFromDeliveryCount);
};

const offsetReset: CaseRunner = (json, differences) => {
  describedFields(json, ['expect', 'value']);
  const parsed = parseShareAutoOffsetReset(json.value);
  differences.equal('parsed', parsed ? { valid: true, ...parsed } : { valid: false }, json.expect);
};

const sessions: CaseRunner = (json, differences) => {
  describedFields(json, ['expect', 'maxSessions', 'steps']);
  const live = new ShareSessions(json.maxSessions);
  const outcomeJson = (outcome: ShareSessionOutcome): Json => ({
    error: nameOrNull(outcome.error),
    ...(outcome.context ? { context: outcome.context } : {}),
    ...(outcome.context === 'final' ? { releasesRecords: true } : {}),
    ...(outcome.context === 'new' || outcome.context === 'existing'
      ? { nextEpoch: outcome.session.epoch, sessionPartitions: [...outcome.session.partitions] }
      : {}),
  });
  const run = (step: Json): Json => {
    const groupId = step.group ?? 'group';
    const { member: memberId, epoch, partitions: added = [], forget: forgotten = [], acks = false } = step;
    switch (step.op) {
      case 'shareFetch':
        return outcomeJson(live.fetch({ groupId, memberId, epoch, added, forgotten, hasAcknowledgements: acks }));
      case 'shareAcknowledge':
        return outcomeJson(live.acknowledge(groupId, memberId, epoch));
      case 'disconnect':
        return { error: null, releasesRecords: live.end(groupId, memberId) !== undefined };
      case 'forceEpoch':
        live.get(groupId, memberId)!.epoch = epoch;
        return {};
      default:
        throw new Error(`unknown operation ${step.op}`);
    }
  };
  steps(json, differences, (step) => {
    fields(step, ['op', 'group', 'member', 'epoch', 'partitions', 'forget', 'acks', 'expect', 'note']);
    const expected = expectation(step, ['error', 'context', 'nextEpoch', 'sessionPartitions', 'releasesRecords']);
    expectFields(differences, run(step), expected);
  });
};

const COORDINATOR_FIELDS = ['stateEpoch', 'leaderEpoch', 'startOffset', 'deliveryCompleteCount', 'stateBatches'];

const shareCoordinator: CaseRunner = (json, differences) => {
  describedFields(json, ['expect', 'updateRecordsPerSnapshot', 'steps']);
  let state: CoordinatorShareState | undefined;
  const run = (step: Json): Operation => {
    switch (step.op) {
      case 'initialize':
        return initializeState(state, step.stateEpoch, step.startOffset);
      case 'read':
        return readState(state, step.leaderEpoch, json.updateRecordsPerSnapshot);
      case 'write': {
        const { stateEpoch, leaderEpoch, startOffset = -1, deliveryCompleteCount = -1 } = step;
        const stateBatches = fromJson(step.stateBatches ?? []);
        const update = { stateEpoch, leaderEpoch, startOffset, deliveryCompleteCount, stateBatches };
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
    fields(step, ['op', ...COORDINATOR_FIELDS, 'expect', 'note']);
    const operation = run(step);
    state = operation.state;
    const seen =
      step.op === 'summary' ? summarizeState(state) : { ...state, stateBatches: toJson(state?.stateBatches ?? []) };
    const actual: Json = { ...seen, error: nameOrNull(operation.error), record: operation.record };
    expectFields(differences, actual, expectation(step, ['error', 'record', ...COORDINATOR_FIELDS]));
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
