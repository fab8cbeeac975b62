/** What the append side measures, as OpenTelemetry instruments; and the counts behind `stats()`. Main thread. */
import { type ErrorCode, errorName } from '../common/errors.ts';
import type { Counter, Histogram, Meter } from '../common/metrics.ts';
import type { TopicTraffic } from '../common/topic-traffic.ts';
import type { Uuid } from '../common/uuid.ts';

/** Counts since construction. */
export interface AppendCounters {
  readonly appendedBatches: number;
  readonly appendedRecords: number;
  readonly appendedBytes: number;
  readonly segmentsCommitted: number;
  readonly segmentsAbandoned: number;
}

export class AppendMetrics {
  readonly #counters = {
    appendedBatches: 0,
    appendedRecords: 0,
    appendedBytes: 0,
    segmentsCommitted: 0,
    segmentsAbandoned: 0,
  };
  readonly #traffic: TopicTraffic;
  readonly #bytes: Counter;
  readonly #failedBatches: Counter;
  readonly #abandoned: Counter;
  readonly #segmentSize: Histogram;
  readonly #uploadDuration: Histogram;
  readonly #commitDuration: Histogram;

  constructor(meter: Meter, traffic: TopicTraffic) {
    this.#traffic = traffic;
    this.#bytes = meter.createCounter('diskless.append.bytes', {
      unit: 'By',
      description: 'Bytes of record batches appended.',
    });
    this.#failedBatches = meter.createCounter('diskless.append.failed_batches', {
      unit: '{batch}',
      description: 'Batches refused or failed, by error.',
    });
    this.#abandoned = meter.createCounter('diskless.segment.abandoned', {
      unit: '{segment}',
      description: 'Segments given up.',
    });
    this.#segmentSize = meter.createHistogram('diskless.segment.size', {
      unit: 'By',
      description: 'Sizes of shared log segments.',
    });
    this.#uploadDuration = meter.createHistogram('diskless.segment.upload.duration', {
      unit: 's',
      description: 'How long uploads take, retries included.',
    });
    this.#commitDuration = meter.createHistogram('diskless.segment.commit.duration', {
      unit: 's',
      description: 'How long commits take, retries included.',
    });
  }

  get counters(): AppendCounters {
    return this.#counters;
  }

  uploaded(sizeBytes: number, tookMs: number): void {
    this.#segmentSize.record(sizeBytes);
    this.#uploadDuration.record(tookMs / 1e3);
  }

  segmentCommitted(tookMs: number): void {
    this.#counters.segmentsCommitted += 1;
    this.#commitDuration.record(tookMs / 1e3);
  }

  segmentAbandoned(): void {
    this.#counters.segmentsAbandoned += 1;
    this.#abandoned.add(1);
  }

  batchAppended(topicId: Uuid, records: number, sizeBytes: number): void {
    this.#traffic.appended(topicId, records, sizeBytes);
    this.#counters.appendedBatches += 1;
    this.#counters.appendedRecords += records;
    this.#counters.appendedBytes += sizeBytes;
    this.#bytes.add(sizeBytes);
  }

  batchFailed(error: ErrorCode): void {
    this.#failedBatches.add(1, { 'error.type': errorName(error) });
  }
}
