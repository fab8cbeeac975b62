/**
 * What crosses between the main thread and a record worker. Batches never do: they stay where they are and are addressed.
 */
import type { BatchVerdict } from '../record/batch-verdict.ts';
import type { KernelMemory } from '../record/record-kernel.ts';
import type { ReadRecords, ReadRecordsOptions } from '../record/record-reader.ts';
import type { FoundTimestamp } from '../record/run-rewriter.ts';
import type { AssignedRun, AssignOffsetsOptions, ValidationOptions } from '../record/validation.ts';

/** `address` and `size` in bytes of the shared memory. */
export type RecordTask =
  | { readonly kind: 'validate'; readonly address: number; readonly size: number; readonly options: ValidationOptions }
  | { readonly kind: 'assign'; readonly address: number; readonly size: number; readonly options: AssignOffsetsOptions }
  | {
      readonly kind: 'find';
      readonly address: number;
      readonly size: number;
      readonly timestamp: bigint;
      readonly fromOffset: bigint;
    }
  | {
      readonly kind: 'read';
      readonly address: number;
      readonly size: number;
      readonly options: ReadRecordsOptions;
    };

export type RecordTaskResult =
  | { readonly kind: 'validate'; readonly verdict: BatchVerdict }
  | { readonly kind: 'assign'; readonly run: AssignedRun }
  | { readonly kind: 'find'; readonly found: FoundTimestamp | undefined }
  /** Keys and values are copies: they cross. */
  | { readonly kind: 'read'; readonly read: ReadRecords }
  /** The kernel or a codec threw: a bug of ours that these bytes provoke. Errors do not survive the hand-over, texts do. */
  | { readonly kind: 'failed'; readonly message: string };

export interface RecordWorkerData {
  readonly module: WebAssembly.Module;
  readonly memory: KernelMemory;
}
