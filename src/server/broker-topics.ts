/**
 * The topics for handlers. Indexes are handed out in the order in which they were asked for: Produce asks for one before it
 * appends, and the order of a connection's requests must be the order of their appends.
 */
import type { DisklessEngine } from '../engine/diskless-engine.ts';
import { TopicIndex } from '../group/topic-index.ts';

export class BrokerTopics {
  readonly #engine: DisklessEngine;
  #last: Promise<unknown> = Promise.resolve();

  constructor(engine: DisklessEngine) {
    this.#engine = engine;
  }

  /** The topics now. @throws ApiError when the coordinator does not answer */
  view(): Promise<TopicIndex> {
    const look = async (): Promise<TopicIndex> => TopicIndex.of(await this.#engine.listTopics());
    const view = this.#last.then(look, look);
    this.#last = view;
    return view;
  }
}
