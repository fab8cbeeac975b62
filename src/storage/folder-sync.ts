/**
 * Making names in folders durable. A file's fsync says nothing about its name: that needs an fsync of the folder after
 * the name was made. Concurrent callers share one: a sync that began after my name was made covers it.
 */
import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** How many folders are remembered as durable before the memory is dropped (they are synced again, no more). */
const MAX_KNOWN = 10_000;

interface FolderState {
  running: Promise<void>;
  /** The sync that starts when `running` ends; whoever comes meanwhile joins it. */
  next: Promise<void> | undefined;
}

export class FolderSync {
  readonly #states = new Map<string, FolderState>();
  readonly #durable = new Set<string>();

  /** Resolves when every name made in `folder` before the call is durable. @throws the fsync's errno error */
  sync(folder: string): Promise<void> {
    const state = this.#states.get(folder);
    if (!state) return this.#start(folder);
    state.next ??= state.running.then(
      () => this.#start(folder),
      () => this.#start(folder),
    );
    return state.next;
  }

  #start(folder: string): Promise<void> {
    const running = fsyncFolder(folder);
    const state: FolderState = { running, next: undefined };
    this.#states.set(folder, state);
    const settled = (): void => {
      if (!state.next) this.#states.delete(folder);
    };
    running.then(settled, settled);
    return running;
  }

  /** Creates `folder` below `root` (which exists), each level's name durable before the next is made. */
  async ensure(root: string, folder: string): Promise<void> {
    const path = join(root, folder);
    if (folder === '.' || this.#durable.has(path)) return;
    await this.ensure(root, dirname(folder));
    await mkdir(path).catch(ignoreExisting);
    await this.sync(dirname(path));
    if (this.#durable.size >= MAX_KNOWN) this.#durable.clear();
    this.#durable.add(path);
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

async function fsyncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
