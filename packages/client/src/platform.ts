import { startTimer } from './time.js';

/** A function that ends a subscription. */
export type Unsubscribe = () => void;
export type MaybePromise<T> = T | Promise<T>;
/** The part of `fetch` that this package uses. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

export interface Abortable {
  /** Ends the call. Like `fetch`, it rejects with the reason of the signal. */
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
    readonly userAgent?: string;
    readonly cookieEnabled?: boolean;
    readonly credentials?: CredentialStore;
    readonly userAgentData?: { readonly platform?: string };
  };
  readonly screen?: { readonly width: number; readonly height: number };
  readonly addEventListener?: (type: string, listener: PageListener) => void;
  readonly removeEventListener?: (type: string, listener: PageListener) => void;
}

/** `persisted`: the page comes back from the cache of the browser. */
type PageListener = (event: { readonly persisted?: boolean }) => void;

export interface WebStorageArea {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
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

/** Whether the page is in a tab that the user does not see. */
export const isHidden = () => platform().document?.visibilityState === 'hidden';

/** Listens to an event of the page, if this is a page. */
export function onPageEvent(type: string, listener: PageListener): Unsubscribe {
  platform().addEventListener?.call(globalThis, type, listener);
  return () => platform().removeEventListener?.call(globalThis, type, listener);
}

/** Calls the listener when the signal aborts, or now if it has aborted. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): Unsubscribe {
  if (signal?.aborted) listener();
  signal?.addEventListener('abort', listener);
  return () => signal?.removeEventListener('abort', listener);
}

/**
 * Resolves when the time is over, or when the signal aborts.
 *
 * @param onResume also ends the pause, when the app comes to the foreground
 */
export async function wait(
  milliseconds: number,
  signal?: AbortSignal,
  onResume?: (wake: () => void) => Unsubscribe,
): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let ends: readonly (Unsubscribe | undefined)[] = [];
  await new Promise<void>((resolve) => {
    timer = startTimer(resolve, milliseconds);
    ends = [onAbort(signal, resolve), onResume?.(resolve)];
  });
  clearTimeout(timer);
  for (const end of ends) end?.();
}

/** A function that does the work at its first call and returns the same promise later. After a failure, it tries again. */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () =>
    (result ??= work().catch((error) => {
      result = undefined;
      throw error;
    }));
}

/** The result of a storage. Rejects if it takes longer than this many milliseconds. */
export function limited<T>(work: MaybePromise<T>, milliseconds: number): Promise<T> {
  const ended = new AbortController();
  const late = wait(milliseconds, ended.signal).then(() => {
    throw new Error('The storage hangs.');
  });
  return Promise.race([work, late]).finally(() => ended.abort());
}

/** The reason of an aborted signal. Signals of React Native before 0.87 have none, and no `throwIfAborted` either. */
const reasonOf = ({ reason }: AbortSignal): unknown =>
  reason ?? Object.assign(new Error('Aborted'), { name: 'AbortError' });

/** @throws the reason of the signal, if it has aborted */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw reasonOf(signal);
}

/**
 * The whole address up to its query or fragment, its origin, and the sign after it. Null for other schemes, and for an address with a user.
 * Of the members of `URL`, React Native before 0.80 has only `href`.
 *
 * @throws TypeError
 */
export const partsOf = (address: string | URL, base?: string): RegExpExecArray | null =>
  /^(https?:\/\/[^\s/?#@\\]+)\/[^?#]*([?#]|$)/.exec(new URL(address, base).href);

/** A promise for one of several callers: if the caller's signal aborts, the others still get the result. */
export function forCaller<T>(shared: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = onAbort(signal, () => reject(signal && reasonOf(signal)));
    shared.then(resolve, reject).finally(end);
  });
}
