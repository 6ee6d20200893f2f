import { type Core, coreKey } from '../core.js';
import { UsageError } from '../errors.js';
import { platform, type Unsubscribe } from '../platform.js';
import { baseOf, type Call, createTransport, loadPart } from '../transport.js';
import type { Postern, PosternOptions } from '../types.js';
import { onResumeOfPage } from './browser.js';
import { getSession } from './get-session.js';
import { createHeldLogin } from './held-login.js';
import { logOut } from './log-out.js';
import { noStorage, pageStorage, safeStorage } from './login-storage.js';
import { untilReplaced } from './renewals.js';
import { callWithSession, withHumanCheck, withSession } from './requests.js';
import { load } from './start.js';
import { createTabs, type TabEvent } from './tabs.js';
import { createTokenRequests } from './token-requests.js';

/**
 * Creates a client. It reads and sends nothing until it is used.
 *
 * @example
 * ```ts
 * import { createPostern, indexedDbStorage } from '@postern/client';
 *
 * const postern = createPostern({ url: 'https://auth.example.com', storage: indexedDbStorage() });
 * postern.subscribe((state) => console.log(state.status));
 * const answer = await postern.fetch('https://auth.example.com/v1/devices');
 * console.log(await answer.json());
 * ```
 * @throws UsageError for options that are not valid
 */
export function createPostern(options: PosternOptions): Postern {
  const { base, storage: given, timeout } = checkOptions(options);
  const usesBackend = given === 'backend';
  /** If it throws, the error becomes an unhandled rejection, and the caller continues. */
  const onError = async (error: unknown) => options.onError?.(error);
  const transportOptions = { base, locale: options.locale, timeout, cookies: usesBackend };
  const transport = createTransport({ ...transportOptions, fetch: options.fetch });
  const appStorage = usesBackend ? noStorage : given;
  const storage = safeStorage(appStorage, onError);
  const tokens = createTokenRequests(base, transport, appStorage);
  const closers = new Set<Unsubscribe>();
  let isClosed = false;
  const tabs = createTabs(
    `postern ${base}`,
    options.tabs ?? true,
    (event) => void followOtherTab(event).catch(onError),
  );
  closers.add(() => tabs.close());
  const held = createHeldLogin(appStorage, storage, tabs.open);
  const { state } = held;

  /** Another tab changed the login. */
  async function followOtherTab(event: TabEvent): Promise<void> {
    const isOver = event === 'logged_out' || event === 'ended';
    if (!usesBackend) await held.inOrder(() => held.readAgain(isOver ? event : 'logged_out'));
    else if (isOver) held.set(undefined, event);
    else {
      held.cached = undefined;
      held.version += 1;
      const before = held.version;
      if (event === 'token' && state.current.status !== 'signed_out') return;
      await held.renewing?.catch(() => undefined);
      // Somebody may have logged out again.
      if (before === held.version) await getSession(core, { fresh: true });
    }
  }

  const core: Core = {
    base,
    timeout,
    usesBackend,
    appStorage,
    storage,
    tokens,
    tabs,
    held,
    onError,
    passkeys: options.passkeys,
    device: options.device,
    transport: options.fetch === undefined ? transportOptions : undefined,
    marks: usesBackend ? safeStorage(pageStorage(base)) : storage,
    async send(request) {
      // The answer to a logout or to a change of the password also sets the backend's cookie. Wait for it: otherwise it could overwrite
      // the cookie of the next login.
      if (usesBackend && !request.authorization) {
        await held.ending;
        await untilReplaced(core);
      }
      return withHumanCheck<never>(core, request, (call) => transport.json({ ...call, onHeaders: tokens.storeNonce }));
    },
    // The request with the solution of a human check uses the session of the same user.
    call: <T>(request: Call) => core.callWith(request, (call) => withHumanCheck<T>(core, call, transport.json<T>)),
    raw: (request) => core.callWith(request, transport.raw),
    callWith: (request, send) => callWithSession(core, request, send),
    onResume: (wake) => (options.onResume ?? onResumeOfPage)(wake),
    onClose(end) {
      closers.add(end);
      return () => closers.delete(end);
    },
    isClosed: () => isClosed,
    requireOpen() {
      if (isClosed) throw new UsageError('It is closed. Create another.');
    },
  };
  return {
    get current() {
      return state.current;
    },
    subscribe(listener) {
      void load(core).catch(() => undefined);
      return state.subscribe(listener);
    },
    onChange(listener) {
      void load(core).catch(() => undefined);
      return state.onChange(listener);
    },
    url: new URL(`${base}/`),
    ready: () => load(core),
    getSession: (request) => getSession(core, request),
    /** An app that sends no requests of its own loads no code for it. */
    async fetch(input, init) {
      const { fetchWithSession } = await loadPart(() => import('./fetch.js'));
      return fetchWithSession(core, options, (...request) => withSession(core, ...request), input, init);
    },
    logOut: () => logOut(core, load),
    close() {
      isClosed = true;
      held.cached = undefined;
      for (const end of closers) end();
      closers.clear();
    },
    [coreKey]: core,
  } as Postern & { readonly [coreKey]: Core };
}

/** @throws UsageError */
function checkOptions(options: PosternOptions) {
  // A server that renders the page does not know its origin, and a URL needs one. The server sends no requests to this URL.
  const isRendering = options?.storage === 'backend' && !platform().location && `${options.url}`.startsWith('/');
  const base = baseOf(isRendering ? `https://page.invalid${options.url}` : options?.url);
  const { storage, timeout = 10_000 } = options;
  if (
    storage !== 'backend' &&
    ![storage?.get, storage?.set, storage?.delete].every((member) => typeof member === 'function')
  ) {
    throw new UsageError("`storage` must be 'backend' or a storage such as indexedDbStorage(), not localStorage.");
  }
  if (!(timeout > 0)) throw new UsageError('`timeout`: milliseconds above 0.');
  return { base, storage, timeout };
}
