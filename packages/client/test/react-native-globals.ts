// The global objects of React Native, which the test of the client gives to a context of its own. They are written as React
// Native has them, with what they lack. From its sources, versions 0.76 to 0.86: Libraries/Core/setUp*.js, Libraries/Blob/URL.js,
// `abort-controller` 3.0.0 and `whatwg-fetch` 3.6.
import { type Context, createContext, runInContext } from 'node:vm';

export type Version = '0.76' | '0.80' | '0.86';

/** What Hermes and React Native define beside the objects of the language. Nothing else is there: no `crypto`, no streams. */
const names = [
  ...['AbortController', 'AbortSignal', 'Blob', 'File', 'FileReader', 'FormData', 'Headers', 'Request', 'Response'],
  ...['URL', 'URLSearchParams', 'WebSocket', 'XMLHttpRequest', 'TextEncoder', 'atob', 'btoa', 'console', 'fetch'],
  ...['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'clearImmediate'],
  ...['requestAnimationFrame', 'cancelAnimationFrame', 'requestIdleCallback', 'cancelIdleCallback', 'queueMicrotask'],
  ...['performance', 'navigator', 'alert', 'process', 'window', 'self', 'global'],
] as const;

/** As in `abort-controller`: a signal has no reason, no `throwIfAborted` and no `any`. */
class Signal extends EventTarget {
  aborted = false;
}
class Controller {
  readonly signal = new Signal();
  abort(): void {
    if (this.signal.aborted) return;
    this.signal.aborted = true;
    this.signal.dispatchEvent(new Event('abort'));
  }
}

const notImplemented = (name: string): never => {
  throw new Error(`URL.${name} is not implemented`);
};
/** The `URL` of 0.76: an address cannot be taken apart. */
class UnreadableUrl {
  readonly href: string;
  constructor(url: string, base?: string) {
    if (base === undefined || /^\w+:/.test(url)) this.href = /[/?#]$/.test(url) ? url : `${url}/`;
    else this.href = `${base.replace(/\/$/, '')}/${url.replace(/^\//, '')}`;
  }
  get hash() {
    return notImplemented('hash');
  }
  get origin() {
    return notImplemented('origin');
  }
  get pathname() {
    return notImplemented('pathname');
  }
  get protocol() {
    return notImplemented('protocol');
  }
  get search() {
    return notImplemented('search');
  }
  get username() {
    return notImplemented('username');
  }
  toString() {
    return this.href;
  }
}
/** The `URL` of later versions: it accepts every text, and takes it apart with regular expressions. */
class LooseUrl extends UnreadableUrl {
  override get hash(): never {
    return (/#([^/]*)/.exec(this.href)?.[0] ?? '') as never;
  }
  override get origin(): never {
    return (/^(https?:\/\/[^/]+)/.exec(this.href)?.[1] ?? '') as never;
  }
  override get pathname(): never {
    return (/https?:\/\/[^/]+(\/[^?#]*)?/.exec(this.href)?.[1] ?? '/') as never;
  }
  override get protocol(): never {
    const scheme = /^([a-zA-Z][a-zA-Z\d+\-.]*):/.exec(this.href)?.[1];
    return (scheme === undefined ? '' : `${scheme}:`) as never;
  }
  override get search(): never {
    return (/\?([^#]*)/.exec(this.href)?.[0] ?? '') as never;
  }
  override get username(): never {
    return (/^https?:\/\/([^:@]+)(?::[^@]*)?@/.exec(this.href)?.[1] ?? '') as never;
  }
}

/** As `whatwg-fetch` on top of `XMLHttpRequest`: an answer arrives as a whole and has no `body`. Addresses must be absolute. */
async function fetchOfPhone(input: string | { readonly href: string }, init: RequestInit & { signal?: unknown } = {}) {
  const signal = init.signal as unknown as Signal | undefined;
  const aborted = () => Object.assign(new Error('Aborted'), { name: 'AbortError' });
  if (signal?.aborted) throw aborted();
  const stop = new AbortController();
  signal?.addEventListener('abort', () => stop.abort(aborted()));
  const answer = await fetch(`${input}`, { ...init, signal: stop.signal });
  const text = await answer.text();
  return {
    ...{ ok: answer.ok, status: answer.status, headers: answer.headers, url: answer.url },
    text: async () => text,
    json: async () => JSON.parse(text),
  };
}

/** A context with the global objects of a version, and with no others than those of the language. */
export function reactNative(version: Version): Context {
  const values: Record<string, unknown> = {};
  for (const name of names) values[name] = (globalThis as Record<string, unknown>)[name];
  Object.assign(values, {
    ...{ AbortController: Controller, AbortSignal: Signal, fetch: fetchOfPhone },
    URL: version === '0.76' ? UnreadableUrl : LooseUrl,
    navigator: { product: 'ReactNative' },
    process: { env: { NODE_ENV: 'production' } },
  });
  const context = createContext(values);
  for (const name of ['window', 'self', 'global']) context[name] = runInContext('globalThis', context);
  // Hermes has no `Symbol.asyncIterator`. Babel then uses the name '@@asyncIterator'.
  const original: SymbolConstructor = runInContext('Symbol', context);
  context.Symbol = new Proxy((name?: string) => original(name), {
    get: (_, key) => (key === 'asyncIterator' ? undefined : Reflect.get(original, key)),
  });
  return context;
}
