/** The command line in this process, which catches what it prints. */
import { vi } from 'vitest';
import { main } from '../../../src/cli/main.ts';

/** Runs the command line; what it printed, and its exit code. */
export async function shoal(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const printed = { out: '', err: '' };
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation((text, ...rest) => {
    printed.out += text;
    const onWritten = rest.at(-1) as (() => void) | undefined;
    onWritten?.();
    return true;
  });
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    printed.err += text;
    return true;
  });
  try {
    const code = await main(args);
    return { code, ...printed };
  } finally {
    stdout.mockRestore();
    stderr.mockRestore();
  }
}
