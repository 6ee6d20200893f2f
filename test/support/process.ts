import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Database } from '../../src/database/database.js';
import { createTestDatabase } from './database.js';
import { eventually } from './eventually.js';

const projectFile = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const builtProgram = projectFile('dist/cli/bin.js');

/** A build does nothing if dist/ is up to date. Otherwise other tests may slow it down, as they do what a hook does after it. */
export const BUILD_TIMEOUT = 400_000;
/** Below the time limit of the tests, so that a failure includes the output of the service. */
const startDeadline = 100_000;
/** The time in which the service stops. */
const stopDeadline = 60_000;

/** Settings without limits, because in tests one address logs in and guesses more often than a client may. */
const noLimits = { GUESS_LIMIT: '1000', LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0' };

export interface ProcessOptions {
  /** The environment beside PATH and HOME. Nothing else of the test's environment is passed on. */
  readonly env?: Readonly<Record<string, string>>;
  /** The working directory. Not the project's folder, whose `.env` it would read. */
  readonly cwd: string;
  /** The path of the command; that of dist/ if absent. */
  readonly program?: string;
}

/** A service that runs as a process of its own. */
export interface ServiceProcess {
  /** The URL that it prints. */
  readonly url: string;
  readonly pid: number;
  stdout(): string;
  stderr(): string;
  /** Sends the signal and waits for the end. Gives the exit code, null when the signal itself ended it. Safe to repeat. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** Waits for it to end by itself. Gives the exit code. */
  ended(): Promise<number | null>;
}

export interface TestService extends ServiceProcess {
  /** Its database, for the clock. */
  readonly database: Database;
  /** The value of ADMIN_API_KEY, a key that has every scope. */
  readonly adminKey: string;
}

/** The result of a process. */
export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

let build: Promise<unknown> | undefined;

/** Builds dist/ if necessary. For `beforeAll`, with BUILD_TIMEOUT. Test files of one process share one build. */
export async function buildService(): Promise<void> {
  build ??= promisify(execFile)(process.execPath, [projectFile('scripts/build.mjs')]);
  await build;
}

/** The URL that the service prints when it is ready. Undefined before. */
async function announcedUrl({ child, stdout }: ReturnType<typeof launch>): Promise<string | undefined> {
  if (hasEnded(child)) throw new Error(`The service ended with exit code ${child.exitCode}.`);
  const [, url] = /^Postern is ready at (\S+)/m.exec(stdout()) ?? [];
  if (url === undefined) return undefined;
  return (await fetch(`${url}/readyz`)).status === 200 ? url : undefined;
}

/** Starts `postern serve` of dist/, and waits until it is ready. If it ends or is too slow, throws with its output and ends it. */
export async function startProcess(options: ProcessOptions): Promise<ServiceProcess> {
  const running = launch(options);
  const url = await eventually('the service to be ready', () => announcedUrl(running), startDeadline).catch(
    async (error: unknown) => {
      await running.stop();
      throw new Error(`The service did not start: ${running.stdout()}\n${running.stderr()}`, { cause: error });
    },
  );
  return { url, ...running };
}

/** Runs a `postern serve` that is expected to fail. */
export async function runProcess(options: ProcessOptions): Promise<Ended> {
  const { child, stdout, stderr, stop } = launch(options);
  const deadline = AbortSignal.timeout(startDeadline);
  try {
    await once(child, 'close', { signal: deadline });
  } catch (error) {
    await stop('SIGKILL');
    throw new Error(`The service did not end by itself: ${stdout()}`, { cause: error });
  }
  return { exitCode: child.exitCode, stdout: stdout(), stderr: stderr() };
}

/** A service on a fresh database of the tests' server. `stop` also drops the database. */
export async function startTestService(env: Readonly<Record<string, string>> = {}): Promise<TestService> {
  const [cwd, test] = await Promise.all([mkdtemp(join(tmpdir(), 'postern-service-')), createTestDatabase()]);
  const adminKey = `admin-${randomBytes(24).toString('hex')}`;
  const clean = async () => {
    await test.drop();
    await rm(cwd, { recursive: true });
  };
  try {
    const secret = randomBytes(32).toString('hex');
    const own = { PORT: '0', DATABASE_URL: test.url, SECRET_KEY: secret, ADMIN_API_KEY: adminKey, LOG_LEVEL: 'warn' };
    const service = await startProcess({ env: { ...own, ...noLimits, ...env }, cwd });
    return {
      ...service,
      ...{ adminKey, database: test.database },
      async stop(signal) {
        const exitCode = await service.stop(signal);
        await clean();
        return exitCode;
      },
    };
  } catch (error) {
    await clean();
    throw error;
  }
}

function launch({ env = {}, cwd, program = builtProgram }: ProcessOptions) {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [program, 'serve'], {
    cwd,
    env: { PATH, HOME, HOST: '127.0.0.1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  // An aborted test run must not leave services running. They stop their own database on this signal.
  const endWithUs = () => void child.kill('SIGTERM');
  process.once('exit', endWithUs);
  ended.finally(() => process.off('exit', endWithUs));
  return {
    child,
    pid: child.pid ?? Number.NaN,
    stdout: collect(child.stdout),
    stderr: collect(child.stderr),
    ended: async () => {
      await ended;
      return child.exitCode;
    },
    async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
      if (!hasEnded(child)) child.kill(signal);
      const late = setTimeout(() => child.kill('SIGKILL'), stopDeadline);
      await ended;
      clearTimeout(late);
      return child.exitCode;
    },
  };
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;

function collect(stream: NodeJS.ReadableStream): () => string {
  let text = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    text += chunk;
  });
  return () => text;
}
