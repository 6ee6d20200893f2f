import { open } from 'node:fs/promises';
import { type Logger, type LoggerOptions, pino } from 'pino';
import { createRepeats } from './log-repeats.js';

export type { Logger } from 'pino';

/**
 * Creates the log: one JSON line for each entry, with times in UTC. It writes only some fields of an error, because the
 * other fields of a database error may contain values of the statement. Lines that repeat while the database is away are
 * counted.
 */
export function createLog(level: string, destination?: { write(line: string): void }): Logger {
  const repeats = createRepeats((lineLevel, fields, message) => log[lineLevel](fields, message));
  const options: LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: describeError },
    hooks: {
      logMethod(line, method) {
        const [fields, message] = line as readonly unknown[];
        if (typeof fields !== 'object' || fields === null || typeof message !== 'string')
          return method.apply(this, line);
        const written = repeats.check(fields, message);
        if (written !== undefined) method.apply(this, [written, message]);
      },
    },
  };
  const log = destination === undefined ? pino(options) : pino(options, destination);
  return log;
}

interface DescribedError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: DescribedError;
}

function describeError(error: unknown): DescribedError {
  if (!(error instanceof Error)) return { name: typeof error, message: 'not an Error' };
  const { name, message, stack, cause } = error;
  const code = (error as { code?: unknown }).code;
  return {
    name,
    message,
    ...(typeof code === 'string' ? { code } : {}),
    ...(stack === undefined ? {} : { stack }),
    ...(cause instanceof Error ? { cause: describeError(cause) } : {}),
  };
}

/** The functions of `console` that libraries use. */
const consoleMethods = ['debug', 'error', 'info', 'log', 'trace', 'warn'] as const;

/**
 * Writes what libraries print with `console` to the log, so that each line is JSON. Only the first line, because an error of the
 * database may contain values. Postern itself prints with `process.stdout`.
 * @returns a function that restores the console
 */
export function logConsole(log: Logger): () => void {
  const original = { ...console };
  for (const method of consoleMethods) {
    console[method] = (...values: readonly unknown[]) => {
      const [first] = values.map((value) => (value instanceof Error ? `${value.name}: ${value.message}` : value));
      const text = typeof first === 'string' ? first : 'a value that is not a text';
      // The queue's library prints each error of its connections with `console.trace`.
      const outage = method === 'trace' && values[0] instanceof Error ? { outage: 'database' } : {};
      log.warn({ from: `console.${method}`, ...outage }, text.split('\n', 1)[0]?.slice(0, 200) ?? '');
    };
  }
  return () => void Object.assign(console, original);
}

/** Milliseconds between two attempts to open a file. */
const descriptorInterval = 1000;

/**
 * Logs while the process has no free file descriptor, at most once a second: the system then closes new connections without an
 * error.
 * @returns a function that stops it
 */
export function watchDescriptors(
  log: Logger,
  openFile: () => Promise<{ close(): Promise<void> }> = () => open('/dev/null'),
): () => void {
  const timer = setInterval(() => {
    openFile().then(
      (file) => file.close(),
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EMFILE' && error.code !== 'ENFILE') return;
        const cause = error.code === 'EMFILE' ? 'this process' : 'the whole machine';
        const cure =
          error.code === 'EMFILE' ? 'ulimit -n, or LimitNOFILE of systemd' : 'the setting fs.file-max of the system';
        log.error(
          { code: error.code },
          `${cause} has no free file descriptor, so new connections are closed. Raise ${cure}`,
        );
      },
    );
  }, descriptorInterval).unref();
  return () => clearInterval(timer);
}
