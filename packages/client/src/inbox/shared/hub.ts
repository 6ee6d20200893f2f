import { isProblem, isUnauthorized, NetworkError } from '../../errors.js';
import type { Unsubscribe } from '../../platform.js';
import { type Call, createTransport } from '../../transport.js';
import { follow, type StreamCore } from '../live.js';
import type { PollProgress } from '../polling.js';
import type { Connection } from '../types.js';
import { heartbeatMs, type StreamRequest, type ToTab, type ToWorker } from './messages.js';

/** The part of a `MessagePort` that is used. */
export interface Port {
  onmessage: ((event: { readonly data: ToWorker }) => void) | null;
  postMessage(message: ToTab): void;
}

interface Tab {
  readonly port: Port;
  unanswered: number;
  answer: ((token: string | null) => void) | undefined;
}

interface Stream {
  join(tab: Tab): void;
  leave(tab: Tab): void;
  wake(): void;
  beat(): void;
}

/** The maximum number of heartbeats without an answer. After that, a tab counts as closed. */
const maxUnanswered = 3;
/** The time in milliseconds that a tab has to send its session. */
const answerTimeoutMs = 5000;

/** Holds one stream for all tabs that follow the same inbox. It runs in the shared worker. */
export function createHub() {
  const streams = new Map<string, Stream>();
  let heartbeatTimer: ReturnType<typeof setInterval> | undefined;

  function streamOf(opening: StreamRequest): Stream {
    const key = JSON.stringify([opening.transport.base, opening.user, opening.filter, opening.include]);
    const stream =
      streams.get(key) ??
      createStream(opening, () => {
        streams.delete(key);
        if (streams.size > 0) return;
        clearInterval(heartbeatTimer);
        heartbeatTimer = undefined;
      });
    streams.set(key, stream);
    heartbeatTimer ??= setInterval(() => {
      for (const active of streams.values()) active.beat();
    }, heartbeatMs);
    return stream;
  }

  return {
    connect(port: Port): void {
      const tab: Tab = { port, unanswered: 0, answer: undefined };
      let stream: Stream | undefined;
      port.onmessage = ({ data }) => {
        tab.unanswered = 0;
        if ('open' in data) {
          stream = streamOf(data.open);
          stream.join(tab);
        } else if ('session' in data) tab.answer?.(data.session);
        else if ('wake' in data) stream?.wake();
        else if ('bye' in data) stream?.leave(tab);
      };
    },
  };
}

function createStream({ transport, filter, include }: StreamRequest, onEnd: () => void): Stream {
  const tabs = new Set<Tab>();
  const wakers = new Set<() => void>();
  const ended = new AbortController();
  const progress: PollProgress = { position: undefined };
  const { raw, json } = createTransport({ ...transport, fetch: undefined });
  let connection: Connection = 'connecting';
  let isStarted = false;

  /** The session of a tab. The worker asks the newest tab first, because the browser may have frozen older tabs. */
  async function requestSession(fresh: boolean): Promise<string> {
    for (const tab of [...tabs].reverse()) {
      const token = await new Promise<string | null>((resolve) => {
        const timer = setTimeout(resolve, answerTimeoutMs, null);
        tab.answer = (answer) => {
          clearTimeout(timer);
          resolve(answer);
        };
        tab.port.postMessage({ ask: { fresh } });
      });
      if (token !== null) return token;
    }
    throw new NetworkError(false, undefined);
  }

  async function withSession<T>(sendCall: (call: Call) => Promise<T>, call: Call): Promise<T> {
    const send = async (fresh: boolean) =>
      sendCall({ ...call, authorization: `Bearer ${await requestSession(fresh)}` });
    try {
      return await send(false);
    } catch (error) {
      if (isUnauthorized(error)) return send(true);
      throw error;
    }
  }

  const core: StreamCore = {
    raw: (call) => withSession(raw, call),
    call: <T>(call: Call) => withSession<T>(json, call),
    onResume(wake): Unsubscribe {
      wakers.add(wake);
      return () => wakers.delete(wake);
    },
    onClose: () => () => undefined,
  };

  const broadcast = (message: ToTab) => {
    for (const { port } of tabs) port.postMessage(message);
  };
  async function run(): Promise<void> {
    try {
      for await (const event of follow(core, { filter, include, signal: ended.signal }, false, progress)) {
        if (event.type === 'connection') connection = event.connection;
        broadcast({ event, position: progress.position });
      }
    } catch (error) {
      if (!isProblem(error)) return;
      const { status, code, title, detail, request_id, errors, retry } = error;
      const body = JSON.stringify({ type: `urn:postern:problem:${code}`, title, detail, request_id, errors });
      const seconds = retry === null ? null : Math.max(1, Math.ceil((retry.until.getTime() - Date.now()) / 1000));
      broadcast({ problem: { status, body, retryAfter: seconds === null ? null : `${seconds}` } });
    } finally {
      onEnd();
    }
  }

  function leave(tab: Tab): void {
    if (tabs.delete(tab) && tabs.size === 0) {
      ended.abort();
      onEnd();
    }
  }
  return {
    join(tab) {
      tabs.add(tab);
      tab.port.postMessage({ event: { type: 'connection', connection }, position: progress.position });
      if (!isStarted) void run();
      isStarted = true;
    },
    leave,
    wake() {
      for (const wake of [...wakers]) wake();
    },
    beat() {
      for (const tab of [...tabs]) {
        tab.unanswered += 1;
        if (tab.unanswered > maxUnanswered) leave(tab);
        else tab.port.postMessage({ beat: true });
      }
    },
  };
}
