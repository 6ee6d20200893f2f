import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'undici';
import type { ClientBrowser, ClientTab } from './client-scenarios.js';
import { eventually } from './eventually.js';

/** A page in Firefox. Elements are found by JavaScript expressions. */
export interface FirefoxPage extends ClientTab {
  /** Waits for the element, gives it the focus and types into it. */
  type(element: string, text: string): Promise<void>;
  /** Waits for the element and clicks it. */
  click(element: string): Promise<void>;
  press(...keys: string[]): Promise<void>;
  /** Errors in the browser's console, and violations of the content security policy. */
  faults(): Promise<readonly string[]>;
}

interface Message {
  readonly id?: number;
  readonly type: string;
  readonly method?: string;
  readonly message?: string;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly params?: { readonly level?: string; readonly text?: string };
}

/** Debian's name of the browser. */
const browser = 'firefox-esr';

const reports = `() => {
  globalThis.reports = [];
  addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => reports.push(effectiveDirective + ' ' + blockedURI));
}`;

/** A Firefox with one page. */
export interface Firefox extends ClientBrowser {
  readonly page: FirefoxPage;
  newTab(): Promise<FirefoxPage>;
}

/** Starts the Firefox of this machine with an empty profile, and speaks WebDriver BiDi with it. */
export async function launchFirefox(): Promise<Firefox> {
  const profile = await mkdtemp(join(tmpdir(), 'postern-firefox-'));
  const args = ['--headless', '--no-remote', '--remote-debugging-port=0', '--profile', profile];
  const environment = { ...process.env, HOME: profile, LANG: 'C.UTF-8' };
  const child = spawn(browser, args, { env: environment, stdio: ['ignore', 'ignore', 'pipe'] });
  const close = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'close');
    }
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const { send, entries } = await connect(`${await addressOf(child)}/session`);
    await send('session.new', { capabilities: {} });
    await send('session.subscribe', { events: ['log.entryAdded'] });
    await send('script.addPreloadScript', { functionDeclaration: reports });
    const { contexts } = (await send('browsingContext.getTree', {})) as { contexts?: readonly { context: string }[] };
    const context = contexts?.[0]?.context;
    if (context === undefined) throw new Error('Firefox has no tab');
    return {
      page: pageOf(send, context, entries),
      async newTab() {
        const { context: other } = (await send('browsingContext.create', { type: 'tab' })) as { context: string };
        return pageOf(send, other, entries);
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function addressOf(child: ChildProcess): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => reject(new Error(`Firefox ended: ${text}`)));
    child.stderr?.on('data', (chunk) => {
      text += chunk;
      const address = /WebDriver BiDi listening on (ws:\/\/\S+)/.exec(text)?.[1];
      if (address !== undefined) resolve(address);
    });
  });
}

type Send = (method: string, params: object) => Promise<Readonly<Record<string, unknown>>>;

async function connect(address: string): Promise<{ send: Send; entries: string[] }> {
  const socket = new WebSocket(address);
  const waiting = new Map<number, (message: Message) => void>();
  const entries: string[] = [];
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.id !== undefined) waiting.get(message.id)?.(message);
    else if (message.params?.level === 'error') entries.push(message.params.text ?? '');
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', () => reject(new Error(`cannot reach Firefox at ${address}`)));
  });
  let last = 0;
  const send: Send = (method, params) =>
    new Promise((resolve, reject) => {
      last += 1;
      waiting.set(last, ({ type, result, message }) => {
        if (type === 'success') resolve(result ?? {});
        else reject(new Error(`${method}: ${message}`));
      });
      socket.send(JSON.stringify({ id: last, method, params }));
    });
  return { send, entries };
}

function pageOf(send: Send, context: string, entries: readonly string[]): FirefoxPage {
  async function evaluate<T>(expression: string): Promise<T> {
    const text = `(async () => JSON.stringify([await (${expression})]))()`;
    const params = { expression: text, target: { context }, awaitPromise: true };
    const answer = await send('script.evaluate', params);
    const { value } = (answer.result ?? {}) as { value?: string };
    if (value === undefined) throw new Error(`${expression}: ${JSON.stringify(answer.exceptionDetails)}`);
    return (JSON.parse(value) as [T])[0];
  }
  const until = async (expression: string) => {
    await eventually(expression, async () => ((await evaluate<boolean>(`Boolean(${expression})`)) ? true : undefined));
  };
  const press = async (...keys: string[]) => {
    const actions = keys.flatMap((value) => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ]);
    await send('input.performActions', { context, actions: [{ type: 'key', id: 'keyboard', actions }] });
  };
  return {
    ...{ evaluate, until, press },
    async goto(url) {
      await send('browsingContext.navigate', { context, url, wait: 'complete' });
    },
    async type(element, text) {
      await until(element);
      await evaluate(`${element}.focus()`);
      await press(...text);
    },
    async click(element) {
      await until(element);
      await evaluate(`${element}.click()`);
    },
    faults: async () => [...entries, ...(await evaluate<string[]>('reports'))],
  };
}
