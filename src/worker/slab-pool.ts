/**
 * The memory that record bytes live in: slabs leased from one shared WebAssembly memory, so that the record kernel of
 * every thread reads and rewrites them in place and sockets, files and undici take a Buffer over them as it is.
 *
 * Main thread only (workers see addresses). Whoever holds a lease releases it; `close()` of the pool asserts that every
 * lease came back.
 */

/**
 * Who pays for a slab. Each account has a limit of its own, so that producers faster than the storage never take the
 * memory that fetches need: `append` from the door until the commit, `fetch` for GETs in flight and the local view.
 */
export type SlabAccount = 'append' | 'fetch';

/** A leased run of bytes. Starts with a reference count of one. */
export interface Slab {
  /** The bytes, in shared memory. Not to be used after the last release: they may belong to somebody else. */
  readonly bytes: Uint8Array;
  /** One more holder. */
  retain(): void;
  /** One holder less; the last one gives the bytes back. */
  release(): void;
  /** Lets another account pay, without copying; false (and no change) when that account is full. */
  transfer(to: SlabAccount): boolean;
}

export interface SlabPool {
  /** Bytes that an account can lease in all. */
  capacityBytes(account: SlabAccount): number;
  /** Bytes an account has leased now, rounding included. */
  leasedBytes(account: SlabAccount): number;
  /** A slab of exactly `sizeBytes`, its content undefined, or undefined when there is no room for it now. */
  lease(sizeBytes: number, account: SlabAccount): Slab | undefined;
}
