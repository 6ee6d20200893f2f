/** A function that ends a subscription. */
export type Unsubscribe = () => void;
export type MaybePromise<T> = T | Promise<T>;
/** The part of `fetch` that this package uses. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

export interface Abortable {
  /** Ends the call. The promise rejects with the reason of the signal, as that of `fetch` does. */
  readonly signal?: AbortSignal | undefined;
}

/** The global objects that some platforms have. They are read when they are used, never at import. */
interface Platform {
  readonly BroadcastChannel?: new (name: string) => TabChannel;
  readonly document?: { readonly visibilityState: string };
  readonly location?: { readonly href: string; readonly origin: string };
  readonly navigator?: {
    readonly language?: string;
    readonly platform?: string;
    readonly credentials?: CredentialStore;
    readonly userAgentData?: { readonly platform?: string };
  };
  readonly screen?: { readonly width: number; readonly height: number };
  readonly addEventListener?: (type: string, listener: () => void) => void;
  readonly removeEventListener?: (type: string, listener: () => void) => void;
}

export interface TabChannel {
  onmessage: ((event: never) => void) | null;
  postMessage(message: unknown): void;
  close(): void;
  /** In Node.js: an open channel must not keep the process alive. */
  unref?(): void;
}

interface CredentialStore {
  get(options: object): Promise<unknown>;
  create(options: object): Promise<unknown>;
}

export const platform = (): Platform => globalThis as Platform;

/**
 * Returns a function that measures the milliseconds since now with two clocks, and returns the larger value: one clock
 * can stop while the device sleeps, and the other can be set back.
 */
export function stopwatch(): () => number {
  const [wallStart, monotonicStart] = [Date.now(), performance.now()];
  return () => Math.max(Date.now() - wallStart, performance.now() - monotonicStart);
}

/** Resolves when the time is over, or when the signal aborts. */
export function wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener('abort', end);
  });
}

/** The reason of an aborted signal. Signals of React Native before 0.87 have none, and no `throwIfAborted` and `any` either. */
const reasonOf = (signal: AbortSignal): unknown =>
  signal.reason ?? Object.assign(new Error('The call was aborted.'), { name: 'AbortError' });

/** @throws the reason of the signal, if it has aborted */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw reasonOf(signal);
}

/** A signal that aborts with the first of several. */
export function anySignal(...signals: readonly (AbortSignal | undefined)[]): AbortSignal {
  const controller = new AbortController();
  for (const signal of signals) {
    const abort = () => controller.abort(signal?.reason);
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { signal: controller.signal });
  }
  return controller.signal;
}

/**
 * The origin of an address, by `URL`. The `URL` of React Native before 0.80 cannot take an address apart, so that there only an
 * address whose host is plain has one.
 */
export function originOf(address: string, base?: string): string | undefined {
  try {
    return new URL(address, base).origin.toLowerCase() || undefined;
  } catch {
    return address.match(httpAddress)?.[1]?.toLowerCase();
  }
}
/** The origin, and what follows the path. A user is not accepted. */
const httpAddress = /^(https?:\/\/[\w.:[\]-]+)(?:\/[^\s\\?#]*)?([?#].*)?$/i;
/** Whether an address is one of http or https without a user, a query and a fragment. */
export const isPlainAddress = (address: string): boolean => {
  const parts = address.match(httpAddress);
  return parts !== null && parts[2] === undefined;
};

/** A promise for one of several callers: if the caller's signal aborts, the others still get the result. */
export function forCaller<T>(shared: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return shared;
  return new Promise((resolve, reject) => {
    const abort = () => reject(reasonOf(signal));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    shared.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
