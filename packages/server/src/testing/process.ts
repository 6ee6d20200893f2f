import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UsageError } from '@postern/client/internal';

/** A Postern in a process of its own. */
export interface PosternProcess {
  readonly url: string;
  readonly adminKey: string;
  readonly pid: number;
  /** Sets the clock of the service to the real time plus `offset` milliseconds. */
  setClock(offset: number): Promise<void>;
  stop(): Promise<void>;
}

interface Answer {
  readonly id?: number;
  readonly ready?: { readonly url: string; readonly adminKey: string };
  readonly failed?: string;
}

/** @throws UsageError without a built installation; Error with the output of the service if it does not start */
export async function startProcess(
  installation: string | undefined,
  env: Readonly<Record<string, string>>,
): Promise<PosternProcess> {
  const folderOfPostern = installation ?? findInstallation();
  if (!existsSync(join(folderOfPostern, 'dist/tools.js'))) {
    throw new UsageError(`There is no built Postern in ${folderOfPostern}. Run \`npm run build\` there.`);
  }
  // Reachable for the user that PostgreSQL runs as, unlike a temporary folder of this user.
  const folder = await mkdtemp(join(tmpdir(), 'postern-testing-'));
  const child = fork(fileURLToPath(new URL('./runner.mjs', import.meta.url)), [folderOfPostern, folder], {
    // The service must not get the environment of the tests.
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' },
    cwd: folder,
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let output = '';
  child.stderr?.on('data', (data) => {
    output = (output + data).slice(-10_000);
  });
  const ended = once(child, 'exit');
  child.send({ env });
  const answer = await answerOf(child, ended, ({ ready, failed }) => ready !== undefined || failed !== undefined);
  if (answer?.ready === undefined) {
    await ended;
    throw new Error(`Postern did not start: ${answer?.failed ?? ''}\n${output}`);
  }
  const { ready } = answer;
  // If a test does not stop the service, the channel must not keep the test process alive.
  child.unref();
  child.channel?.unref();
  let requests = 0;
  return {
    ...ready,
    pid: child.pid ?? Number.NaN,
    async setClock(offset) {
      requests += 1;
      const id = requests;
      child.send({ id, offset });
      child.channel?.ref();
      const answer = await answerOf(child, ended, (candidate) => candidate.id === id);
      child.channel?.unref();
      if (answer === undefined) throw new Error('Postern has ended.');
    },
    async stop() {
      // Keeps this process alive until the service has stopped.
      child.ref();
      if (child.connected) child.disconnect();
      if (child.exitCode === null && child.signalCode === null) await ended;
    },
  };
}

/** The first answer that matches; undefined if the process ends first. */
function answerOf(
  child: ChildProcess,
  ended: Promise<unknown>,
  matches: (answer: Answer) => boolean,
): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    const listen = (answer: Answer) => {
      if (!matches(answer)) return;
      child.off('message', listen);
      resolve(answer);
    };
    child.on('message', listen);
    void ended.then(() => resolve(undefined));
  });
}

function findInstallation(): string {
  try {
    return dirname(createRequire(join(process.cwd(), 'package.json')).resolve('postern/package.json'));
  } catch {
    throw new UsageError(
      'Postern is not installed here. Add the package `postern`, or name its folder: startPostern({ installation }).',
    );
  }
}
