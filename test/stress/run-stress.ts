/** Runs `npm run stress` as a test would: its exit code and the lines that it printed. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('./main.ts', import.meta.url));

export function runStress(args: string[], env: NodeJS.ProcessEnv): Promise<{ status: number; output: string[] }> {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, ...env } };
    execFile(process.execPath, ['--import', 'tsx', main, ...args], options, (error, stdout, stderr) => {
      const status = error ? (typeof error.code === 'number' ? error.code : 1) : 0;
      resolve({ status, output: `${stdout}${stderr}`.trim().split('\n') });
    });
  });
}
