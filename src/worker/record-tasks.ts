/** Runs one task on a kernel, the same way inline and in a worker. */

import { unreachable } from '../common/assert.ts';
import { messageOf } from '../common/message-of.ts';
import { validateBatch } from '../record/batch-validator.ts';
import type { RecordKernel } from '../record/record-kernel.ts';
import { readRecords } from '../record/record-reader.ts';
import { assignOffsets, offsetForTimestamp } from '../record/run-rewriter.ts';
import type { RecordTask, RecordTaskResult } from './messages.ts';

/** Never throws: a hostile batch that finds a bug must not take a worker, or its neighbours in the hand-over, with it. */
export function runTask(kernel: RecordKernel, task: RecordTask): RecordTaskResult {
  try {
    return dispatch(kernel, task);
  } catch (error) {
    return { kind: 'failed', message: messageOf(error) };
  }
}

function dispatch(kernel: RecordKernel, task: RecordTask): RecordTaskResult {
  const { address, size } = task;
  switch (task.kind) {
    case 'validate':
      return { kind: 'validate', verdict: validateBatch(kernel, address, size, task.options) };
    case 'assign':
      return { kind: 'assign', run: assignOffsets(kernel, address, size, task.options) };
    case 'find':
      return { kind: 'find', found: offsetForTimestamp(kernel, address, size, task.timestamp, task.fromOffset) };
    case 'read':
      return { kind: 'read', read: readRecords(kernel, address, size, task.options) };
    default:
      return unreachable(task);
  }
}
