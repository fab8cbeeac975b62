import { expect, it } from 'vitest';
import { type Logger, silentLogger } from '../../src/common/logger.ts';
import { noopMeter } from '../../src/common/metrics.ts';
import { CoordinatorError, type CoordinatorErrorKind } from '../../src/coordinator/diskless-coordinator.ts';
import { InMemoryDisklessCoordinator } from '../../src/coordinator/in-memory-diskless-coordinator.ts';
import { measuredCoordinator } from '../../src/coordinator/measured-coordinator.ts';
import { ManualTime } from '../support/manual-time.ts';

/** A store that fails as it is told to. */
class FailingCoordinator extends InMemoryDisklessCoordinator {
  kind: CoordinatorErrorKind = 'no-space';

  override createTopics(): Promise<never> {
    return Promise.reject(new CoordinatorError(this.kind, 'the disk is full'));
  }
}

it('logs what an operator can do something about, once in a while, and passes the failure on', async () => {
  const lines: object[] = [];
  const logger: Logger = { ...silentLogger, warn: (fields, message) => lines.push({ ...fields, message }) };
  const time = new ManualTime();
  const store = new FailingCoordinator();
  const coordinator = measuredCoordinator(store, { meter: noopMeter, time, logger });
  const fail = () => expect(coordinator.createTopics([])).rejects.toThrow('the disk is full');
  const line = (failures: number) => ({
    operation: 'createTopics',
    failures,
    error: 'CoordinatorError: the disk is full',
    message: 'coordinator operation createTopics failed',
  });

  await fail();
  await fail();
  await fail();
  expect(lines).toEqual([line(1)]);
  await time.advance(10_000);
  await fail();
  expect(lines).toEqual([line(1), line(3)]);

  await time.advance(10_000);
  for (const kind of ['abandoned', 'invalid', 'fenced', 'closed'] as const) {
    store.kind = kind;
    await fail();
  }
  expect(lines).toHaveLength(2);
  await coordinator.close();
});
