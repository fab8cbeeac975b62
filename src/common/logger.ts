/**
 * The logger that components take. pino's shape (object first, message second), so that a broker passes its own pino;
 * the default says nothing. Secrets are never put into the object. An error goes in whole as `err`, or in one line as
 * `error: String(error)`: under another name than `err` pino would leave its message out.
 */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const ignore = (): void => {};
export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
