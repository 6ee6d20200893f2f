import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClientBrowser, ClientTab } from './client-scenarios.js';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';

/** Debian's places of the browser, for each architecture. */
const browsers = ['x86_64', 'aarch64'].map((cpu) => `/usr/lib/${cpu}-linux-gnu/webkit2gtk-4.1/MiniBrowser`);
/** Milliseconds that a script may take. */
const scriptLimit = 60_000;

/** Starts the WebKitGTK of this machine on a display in memory, and speaks WebDriver with it. */
export async function launchWebKit(): Promise<ClientBrowser> {
  const home = await mkdtemp(join(tmpdir(), 'postern-webkit-'));
  const children: ChildProcess[] = [];
  const close = async () => {
    for (const child of children.reverse()) await endGroup(child);
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const display = start('Xvfb', ['-displayfd', '1', '-nolisten', 'tcp', '-screen', '0', '1024x768x24'], {}, children);
    const environment = {
      ...{ HOME: home, XDG_RUNTIME_DIR: home, LANG: 'C.UTF-8', DISPLAY: `:${await firstLine(display)}` },
      // Its sandbox needs rights that root in a container does not have. The pages are those of the tests.
      WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
    };
    const port = await freePort();
    start('WebKitWebDriver', [`--port=${port}`], environment, children);
    const send = await openSession(port);
    const first = await send<string>('GET', '/window');
    // Commands apply to the current window, so one runs after the other.
    let last: Promise<unknown> = Promise.resolve();
    const within = <T>(handle: string, act: () => Promise<T>): Promise<T> => {
      const next = last.then(async () => {
        await send('POST', '/window', { handle });
        return act();
      });
      last = next.catch(() => undefined);
      return next;
    };
    return {
      page: tabOf(send, (act) => within(first, act)),
      async newTab() {
        const { handle } = await within(first, () => send<{ handle: string }>('POST', '/window/new', { type: 'tab' }));
        return tabOf(send, (act) => within(handle, act));
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function start(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  children: ChildProcess[],
): ChildProcess {
  // A group of its own, because the driver starts the browser, and that one several processes.
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  children.push(child);
  return child;
}

async function endGroup(child: ChildProcess): Promise<void> {
  if (child.pid === undefined) return;
  const hasEnded = child.exitCode !== null || child.signalCode !== null;
  const ended = hasEnded ? undefined : once(child, 'exit');
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The whole group has ended.
  }
  await ended;
}

async function firstLine(child: ChildProcess): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => reject(new Error('Xvfb has ended')));
    child.stdout?.on('data', (data) => {
      text += data;
      const [line, rest] = text.split('\n');
      if (line !== undefined && rest !== undefined) resolve(line);
    });
  });
}

type Send = <T>(method: 'GET' | 'POST', path: string, body?: object) => Promise<T>;

async function openSession(port: number): Promise<Send> {
  const root = `http://127.0.0.1:${port}`;
  const ask = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const answer = await fetch(root + path, { method, ...(body && { body: JSON.stringify(body) }) });
    const { value } = (await answer.json()) as { value: T & { error?: string; message?: string } };
    if (!answer.ok) throw new Error(`WebDriver ${method} ${path}: ${value.error} ${value.message}`);
    return value;
  };
  await eventually('the driver listens', () => ask<object>('GET', '/status').catch(() => undefined));
  const installed = await Promise.all(
    browsers.map((path) =>
      access(path).then(
        () => path,
        () => undefined,
      ),
    ),
  );
  const binary = installed.find((path) => path !== undefined);
  const options = { 'webkitgtk:browserOptions': { binary, args: ['--automation'] } };
  const { sessionId } = await ask<{ sessionId: string }>('POST', '/session', {
    capabilities: { alwaysMatch: { ...options, timeouts: { script: scriptLimit } } },
  });
  return (method, path, body) => ask(method, `/session/${sessionId}${path}`, body);
}

function tabOf(send: Send, within: <T>(act: () => Promise<T>) => Promise<T>): ClientTab {
  async function evaluate<T>(expression: string): Promise<T> {
    // `Promise.resolve().then`: an expression that throws at once fails, too, and does not wait for the time limit.
    const script = `const [done] = arguments;
      Promise.resolve().then(async () => [await (${expression})])
        .then((value) => done(JSON.stringify({ value })), (error) => done(JSON.stringify({ error: String(error) })));`;
    const answer = await within(() => send<string>('POST', '/execute/async', { script, args: [] }));
    const { value, error } = JSON.parse(answer) as { value?: [T]; error?: string };
    if (value === undefined) throw new Error(`${expression}: ${error}`);
    return value[0];
  }
  return {
    evaluate,
    goto: (url) => within(() => send('POST', '/url', { url })),
    async until(expression) {
      await eventually(expression, async () =>
        (await evaluate<boolean>(`Boolean(${expression})`)) ? true : undefined,
      );
    },
  };
}
