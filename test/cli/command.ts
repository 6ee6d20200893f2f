import { EventEmitter } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../src/cli/run.js';

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCommand {
  readonly done: Promise<Outcome>;
  /** The output so far. */
  printed(): string;
  signal(name: 'SIGTERM' | 'SIGINT'): void;
  /** The number of remaining listeners of signals. */
  listeners(): number;
}

export type Environment = Readonly<Record<string, string>>;

/** Starts a command in this process, with its own environment, input and signals. */
export function startCommand(args: readonly string[], env: Environment, input?: string): RunningCommand {
  const written = { stdout: '', stderr: '' };
  const signals = new EventEmitter();
  const outputTo = (stream: keyof typeof written) => ({
    write(text: string) {
      written[stream] += text;
    },
  });
  const io = { stdout: outputTo('stdout'), stderr: outputTo('stderr'), env, isTerminal: false, signals };
  const stdin = (async function* () {
    if (input !== undefined) yield input;
  })();
  return {
    done: run(args, { ...io, stdin }).then((code) => ({ code, ...written })),
    printed: () => written.stdout,
    signal: (name) => void signals.emit(name),
    listeners: () => signals.listenerCount('SIGTERM') + signals.listenerCount('SIGINT'),
  };
}

export const runCommand = (args: readonly string[], env: Environment = {}, input?: string): Promise<Outcome> =>
  startCommand(args, env, input).done;

/** A temporary folder for one test file. */
export async function temporaryFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'postern-cli-'));
  // The embedded PostgreSQL of a command may still write to its log. `rm` repeats while the folder gets new files.
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }) };
}
