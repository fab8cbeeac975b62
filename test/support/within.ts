/** Bounded waiting for what may never come. */

/** @throws what `late` makes when `what` has not come within `ms`; what becomes of it later is ignored */
export async function within<T>(ms: number, what: Promise<T>, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([what, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
