/**
 * InitProducerId: hands out producer ids for idempotent producers, from blocks that the coordinator reserved durably.
 * What is left of a block when the process ends is never used, so that no id is issued twice.
 */
import { ApiError, Errors } from '../../common/errors.ts';
import type { DisklessCoordinator } from '../../coordinator/diskless-coordinator.ts';
import type { ResponseOf } from '../../protocol/api.ts';
import { initProducerId } from '../../protocol/messages/init-producer-id.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import type { Broker } from '../broker.ts';

/** Kafka's own block size. */
const BLOCK_SIZE = 1_000;

export class ProducerIdManager {
  readonly #coordinator: Pick<DisklessCoordinator, 'allocateProducerIdBlock'>;
  #next = 0n;
  #end = 0n;
  #allocating: Promise<void> | undefined;

  constructor(coordinator: Pick<DisklessCoordinator, 'allocateProducerIdBlock'>) {
    this.#coordinator = coordinator;
  }

  /** An id that was never given out. @throws CoordinatorError */
  async nextId(): Promise<bigint> {
    while (this.#next >= this.#end) {
      this.#allocating ??= this.#allocate().finally(() => {
        this.#allocating = undefined;
      });
      await this.#allocating;
    }
    const id = this.#next;
    this.#next++;
    return id;
  }

  async #allocate(): Promise<void> {
    const { firstProducerId, size } = await this.#coordinator.allocateProducerIdBlock(BLOCK_SIZE);
    this.#next = firstProducerId;
    this.#end = firstProducerId + BigInt(size);
  }
}

export function initProducerIdHandler({ coordinator, logger }: Broker): ApiHandler {
  const ids = new ProducerIdManager(coordinator);
  return apiHandler<typeof initProducerId>({
    api: initProducerId,

    /** Without a transactional id, the id and epoch that a client may send count for nothing: it gets a new id. */
    async handle({ transactionalId }, { clientId }): Promise<ResponseOf<typeof initProducerId>> {
      if (transactionalId !== null) {
        logger.warn(
          { clientId, transactionalId },
          'transactions are not built yet; a transactional producer was refused',
        );
        return { errorCode: Errors.INVALID_REQUEST };
      }
      return { errorCode: Errors.NONE, producerId: await nextId(ids), producerEpoch: 0 };
    },

    errorResponse: (errorCode) => ({ errorCode }),
  });
}

async function nextId(ids: ProducerIdManager): Promise<bigint> {
  try {
    return await ids.nextId();
  } catch (cause) {
    throw new ApiError('COORDINATOR_NOT_AVAILABLE', 'no producer ids could be reserved', { cause });
  }
}
