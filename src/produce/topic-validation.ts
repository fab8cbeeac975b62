/** What the record kernel is told about the batches of a topic. Main thread; owned by the append service. */
import type { TopicConfig } from '../common/topic-config.ts';
import type { ValidationOptions } from '../record/validation.ts';

export class TopicValidation {
  readonly #options = new Map<TopicConfig, ValidationOptions>();
  #nowMs = Number.NaN;

  /** One object for all batches of a topic in the same millisecond: it crosses to a worker once for all of them. */
  optionsFor(config: TopicConfig, nowMs: number): ValidationOptions {
    if (nowMs !== this.#nowMs) {
      this.#options.clear();
      this.#nowMs = nowMs;
    }
    let options = this.#options.get(config);
    if (!options) {
      options = newOptions(config, nowMs);
      this.#options.set(config, options);
    }
    return options;
  }
}

function newOptions(config: TopicConfig, nowMs: number): ValidationOptions {
  return {
    maxMessageBytes: config.maxMessageBytes,
    compressionType: config.compressionType,
    compressionLevel: config.compressionLevel,
    timestampType: config.timestampType,
    nowMs,
    timestampBeforeMaxMs: config.timestampBeforeMaxMs,
    timestampAfterMaxMs: config.timestampAfterMaxMs,
    compacted: config.compacted,
    allowTransactional: false,
  };
}
