import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { BackupError } from '../container/error.js';
import type { ProgramConnection } from './connection.js';
import type { Program } from './programs.js';

/** The number of characters that are kept of a program's messages: its last ones. */
const keptCharacters = 2000;

/** A program that connects to a database. */
export interface ProgramRun {
  readonly program: Program;
  readonly connection: ProgramConnection;
  /** The arguments of the program, without the connection. */
  readonly args: readonly string[];
}

function start({ program: { command }, connection: { text, password }, args }: ProgramRun) {
  // The text names file descriptor 3 as the password file.
  const child = spawn(command, [...args, '--no-password', `--dbname=${text}`], {
    stdio: ['pipe', 'pipe', 'pipe', password?.fd ?? 'ignore'],
  });
  // A program that ends early closes its input. Its exit status and messages say why.
  child.stdin?.on('error', () => undefined);
  let messages = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    messages = (messages + text).slice(-keptCharacters);
  });
  const ended = once(child, 'close').then(([code, signal]: (number | string | null)[]) => ({
    code: code ?? signal,
    messages,
  }));
  // If the caller fails first, nothing else handles this rejection.
  ended.catch(() => undefined);
  return { child, input: child.stdin, output: child.stdout, ended };
}

/** @throws BackupError if the program failed */
async function demandSuccess(
  { program: { command } }: ProgramRun,
  ended: Promise<{ readonly code: unknown; readonly messages: string }>,
): Promise<void> {
  const { code, messages } = await ended.catch((error: Error) => ({ code: error.message, messages: '' }));
  if (code === 0) return;
  const lines = messages.trim().split('\n');
  // The statement that failed may follow, and may be long.
  const errorAt = lines.findIndex((line) => line.includes('error: '));
  const reason = (errorAt < 0 ? lines.slice(-3) : lines.slice(errorAt, errorAt + 3)).join(' ');
  throw new BackupError(`${command} failed (${String(code)}): ${reason || 'it gave no reason'}`);
}

/**
 * Reads what a program writes. Fails if the program fails. Ends the program when the reader stops.
 * @throws BackupError
 */
export async function* outputOf(run: ProgramRun): AsyncGenerator<Buffer> {
  const { child, input, output, ended } = start(run);
  input?.end();
  try {
    yield* (output ?? Readable.from([])) as AsyncIterable<Buffer>;
    await demandSuccess(run, ended);
  } finally {
    child.kill('SIGKILL');
  }
}

/** Runs a program that reads `input`. @throws BackupError */
export async function feed(
  run: ProgramRun,
  content: AsyncIterable<Buffer>,
  stop: AbortSignal | undefined,
): Promise<void> {
  const { child, input, output, ended } = start(run);
  output?.resume();
  try {
    if (input === null) throw new Error(`${run.program.command} has no input`);
    // A program that fails stops reading. The error then contains the messages of the program, which explain more than
    // the broken pipe.
    await pipeline(Readable.from(content), input, { ...(stop !== undefined && { signal: stop }) }).catch(
      (error: NodeJS.ErrnoException) => {
        if (!['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'].includes(error.code ?? '')) throw error;
      },
    );
    await demandSuccess(run, ended);
  } finally {
    child.kill('SIGKILL');
  }
}
