/** Standard output of the commands, which its reader may leave (`shoal dump … | head`) and a full disk may refuse. */
import { CliError } from './command.ts';

/** Node destroys the stream with the first failure; what is written afterwards fails with the second code. */
const READER_IS_GONE = new Set(['EPIPE', 'ERR_STREAM_DESTROYED']);

/**
 * Resolves when the text is written; with false once nobody reads any more.
 * @throws CliError when it cannot be written for another reason
 */
export function print(text: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const onError = ({ code, message }: NodeJS.ErrnoException): void => {
      if (READER_IS_GONE.has(code ?? '')) resolve(false);
      else reject(new CliError(`cannot write to standard output: ${code ?? message}`));
    };
    process.stdout.once('error', onError);
    process.stdout.write(text, (error) => {
      // The event of the same failure comes after this, and still needs its listener.
      if (error) return onError(error);
      process.stdout.off('error', onError);
      resolve(true);
    });
  });
}

/** For a broker: it goes on when what it says cannot be written. */
export async function say(text: string): Promise<void> {
  await print(text).catch(() => false);
}
