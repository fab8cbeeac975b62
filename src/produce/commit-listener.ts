/** What the append side tells the fetch side; a `FetchService` is one. Methods must not throw. */
import type { RewrittenRun } from '../worker/rewritten-run.ts';

export interface CommitListener {
  /** That object is about to be committed; its bytes are still here. */
  onCommitting(objectKey: string): void;
  /** Takes over a reference to each run's slab. A partition's runs come by rising offset. */
  onCommitted(runs: readonly RewrittenRun[]): void;
  /** Ends `onCommitting`: after `onCommitted`, or when the object was not committed. */
  onCommitSettled(objectKey: string): void;
}
