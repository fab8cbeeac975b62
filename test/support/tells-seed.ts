/**
 * For properties that wait for something. fast-check prints the seed of a run that fails; one that hangs it must end itself
 * to do so, before Vitest says that the test's time is up and no more.
 */
const BEFORE_TEST_TIMEOUT_MS = 10_000;

/** Settings of an assertion. @param testTimeoutMs the test's, in vitest.config.ts where it has none of its own */
export function tellsSeed(testTimeoutMs = 120_000) {
  return { interruptAfterTimeLimit: testTimeoutMs - BEFORE_TEST_TIMEOUT_MS, markInterruptAsFailure: true } as const;
}
