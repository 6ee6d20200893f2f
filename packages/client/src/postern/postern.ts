import { type Core, coreKey, type StoredLogin } from '../core.js';
import { ForeignAnswerError, isProblem, isUnauthorized, UsageError } from '../errors.js';
import { type Abortable, forCaller, limited, platform, throwIfAborted, type Unsubscribe, wait } from '../platform.js';
import { createStore } from '../store.js';
import { stopwatch } from '../time.js';
import { baseOf, type Call, createTransport, loadPart } from '../transport.js';
import type { AuthState, HeldSession, Postern, PosternOptions, SettledAuthState } from '../types.js';
import type { NewSession } from '../wire.js';
import { onResumeOfPage } from './browser.js';
import {
  deviceKey,
  isRefusal,
  loginKey,
  noStorage,
  pageStorage,
  patienceMs,
  readLogin,
  readPatiently,
  replacingMark,
  revokeKey,
  safeStorage,
  writeLogin,
} from './login-storage.js';
import { createRequests, withRetry } from './requests.js';
import { createTabs, type TabEvent } from './tabs.js';
import { createTokenRequests } from './token-requests.js';

/** A session is renewed this many milliseconds before it expires. A session with a short lifetime is renewed in its last quarter. */
const renewalMs = 30_000;

/** The answer of a backend if nobody is logged in. A 401 would be an error in the console of each page that loads. */
interface NoSession {
  readonly token: null;
}
const sessionCall: Call = { method: 'POST', path: '/v1/sessions', expects: 'token' };

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
  const { base, storage, timeout } = checkOptions(options);
  const usesBackend = storage === 'backend';
  /** What it throws is an unhandled rejection, and stops nothing here. */
  const onError = async (error: unknown) => options.onError?.(error);
  const transportOptions = { base, locale: options.locale, timeout, cookies: usesBackend };
  const transport = createTransport({ ...transportOptions, fetch: options.fetch });
  const ownStorage = usesBackend ? noStorage : storage;
  const safe = safeStorage(ownStorage, onError);
  /** What other tabs and the next start must know. With a backend, it contains no secret. */
  const marks = usesBackend ? safeStorage(pageStorage(base)) : safe;
  const tokens = createTokenRequests(base, transport, ownStorage);
  const state = createStore<AuthState>({ status: 'starting' });
  const closers = new Set<Unsubscribe>();
  let isClosed = false;
  let login: StoredLogin | undefined;
  /** Whether the storage keeps the login. If it refuses, each tab has a login of its own. */
  let isStored = true;
  /** Changes with the login and its token, so that an older answer is not used. */
  let version = 0;
  /** The number of reads of the storage, and of the read that changed the version last. Infinite if something else did. */
  let reads = 0;
  let changedBy = 0;
  let loading: Promise<void> | undefined;
  let cached: { readonly session: HeldSession; readonly isFresh: () => boolean } | undefined;
  let renewing: Promise<HeldSession | null> | undefined;

  const signedIn = ({ user_id, device_id }: Omit<StoredLogin, 'token'>) =>
    ({ status: 'signed_in', user_id, device_id }) as const;

  const userOf = (shown: AuthState) => 'user_id' in shown && shown.user_id;
  /** Tells the listeners, unless they know it already. @param onDone called before them */
  function show(next: SettledAuthState, onDone?: () => void): void {
    const { current } = state;
    if (current.status === next.status && userOf(current) === userOf(next)) onDone?.();
    else state.set(next, onDone);
  }

  /** @param onDone called before the listeners of the client */
  function setLogin(
    next: StoredLogin | undefined,
    reason: 'never_signed_in' | 'logged_out' | 'ended',
    error?: unknown,
    onDone?: () => void,
  ): void {
    cached = undefined;
    login = next;
    version += 1;
    changedBy = Infinity;
    isStored = true;
    const problem = isProblem(error, 'invalid_dpop_proof') ? error : undefined;
    show(next ? signedIn(next) : { status: 'signed_out', reason, ...(problem && { problem }) }, onDone);
  }

  /** Changes of the login wait for each other, so that the storage and this client agree after them. */
  let lastChange: Promise<unknown> = Promise.resolve();
  function inOrder<T>(change: () => Promise<T>): Promise<T> {
    // Before the storage changes, so that a change of another tab after it is noticed.
    tabs.open();
    const result = lastChange.then(change, change);
    lastChange = result;
    return result;
  }

  /** Reads the login from the storage. @param refused a token that Postern has refused: in the storage it counts as none */
  async function readAgain(
    reason: 'never_signed_in' | 'logged_out' | 'ended',
    refused?: { readonly token: string | undefined; readonly error: unknown },
  ): Promise<void> {
    const before = version;
    reads += 1;
    const number = reads;
    let stored = await limited(readLogin(ownStorage), patienceMs).catch((error) => {
      throw refused?.error ?? error;
    });
    // Reads may overlap: what an earlier one has found is older.
    if (before !== version && changedBy > number) return;
    if (refused !== undefined && (stored === undefined || stored.token === refused.token)) {
      stored = undefined;
      await safe.delete(loginKey);
    } else if (stored === undefined && !isStored) return;
    setLogin(stored, reason, refused?.error);
    changedBy = number;
  }

  /** Another tab changed the login. */
  async function followOtherTab(event: TabEvent): Promise<void> {
    const isOver = event === 'logged_out' || event === 'ended';
    if (!usesBackend) await inOrder(() => readAgain(isOver ? event : 'logged_out'));
    else if (isOver) setLogin(undefined, event);
    else {
      cached = undefined;
      version += 1;
      const before = version;
      if (event === 'token' && state.current.status !== 'signed_out') return;
      await core.renewed();
      // Somebody may have logged out again.
      if (before === version) await getSession({ fresh: true });
    }
  }
  const tabs = createTabs(
    `postern ${base}`,
    options.tabs ?? true,
    (event) => void followOtherTab(event).catch(core.onError),
  );
  closers.add(() => tabs.close());

  function requireOpen(): void {
    if (isClosed) throw new UsageError('This client is closed. Create another one.');
  }

  async function load(): Promise<SettledAuthState> {
    requireOpen();
    if (state.current.status === 'starting') {
      // A login ends the start, too.
      loading ??= Promise.race([start(), new Promise<void>((resolve) => state.onChange(() => resolve()))]).catch(
        (error) => {
          loading = undefined;
          const end = core.onResume(() => {
            end();
            closers.delete(end);
            void load().catch(() => undefined);
          });
          closers.add(end);
          throw error;
        },
      );
      await loading;
    }
    return state.current as SettledAuthState;
  }

  async function start(): Promise<void> {
    tabs.open();
    if (!usesBackend) await readStorage();
    revoking = marks.get(revokeKey).then((text) => text !== null && revoke(text));
    // Only the backend knows who is signed in, by its cookie.
    if (usesBackend) await renew();
  }

  let hasGivenUp = false;
  /** Without a storage that can be read, the client has no login. A later start may read it. */
  async function readStorage(): Promise<void> {
    try {
      await readPatiently(() => readAgain('never_signed_in'), hasGivenUp ? 0 : patienceMs, core);
    } catch (error) {
      if (!hasGivenUp) core.onError(error);
      hasGivenUp = true;
      if (!isRefusal(error)) throw error;
      setLogin(undefined, 'never_signed_in');
    }
  }

  /** Waits while a call replaces the token, here or in another tab. @returns whether it had to wait */
  async function untilReplaced(): Promise<boolean> {
    for (let hasWaited = false; ; hasWaited = true) {
      const left = Number(await marks.get(replacingMark)) - Date.now();
      // The tab may have been closed, or its clock set back.
      if (isClosed || !(left > 0 && left <= timeout)) return hasWaited;
      await wait(100);
    }
  }

  function accept(session: NewSession, elapsed: () => number): HeldSession {
    const lifetimeMs = Date.parse(session.expires_at) - Date.parse(session.created_at);
    // The clocks of the service and of the device are never compared. The random part spreads the renewals of many tabs.
    const usableMs = lifetimeMs - Math.min(renewalMs, lifetimeMs / 4) * (1 + Math.random() / 3);
    cached = { session, isFresh: () => elapsed() < usableMs };
    if (usesBackend) login = { token: '', user_id: session.user_id, device_id: session.device_id };
    show(signedIn(session));
    return session;
  }

  async function renew(): Promise<HeldSession | null> {
    for (let isFirst = true; ; isFirst = false) {
      await untilReplaced();
      requireOpen();
      // Before the next `await`, so that a logout during it counts.
      const [sentLogin, sentVersion] = [login, version];
      if (usesBackend && (await marks.get(revokeKey)) !== null) {
        setLogin(undefined, 'logged_out');
        return null;
      }
      // Somebody may have logged out during the request.
      if (usesBackend ? !isFirst && state.current.status === 'signed_out' : login === undefined) return null;
      const elapsed = stopwatch();
      let refusal: unknown;
      try {
        const session = await withRetry(
          () => tokens.send<NewSession | NoSession>(sessionCall, sentLogin),
          () => isClosed,
        );
        requireOpen();
        if (sentVersion !== version) continue;
        if (session.token !== null) return accept(session, elapsed);
        if (!usesBackend) throw new ForeignAnswerError(200);
      } catch (error) {
        if (sentVersion !== version) continue;
        if (isProblem(error, 'account_locked', 'account_unusable') && sentLogin !== undefined) {
          cached = undefined;
          state.set({ ...signedIn(sentLogin), status: 'suspended', problem: error });
        }
        if (!isUnauthorized(error)) throw error;
        refusal = error;
      }
      // With a backend, the answer may be to the cookie before a new token of another tab.
      if ((await untilReplaced()) || (usesBackend && isFirst && sentLogin)) continue;
      // Another tab may have stored a newer token, which ended this one.
      const reason = sentLogin === undefined ? 'never_signed_in' : 'ended';
      await inOrder(() => readAgain(reason, { token: sentLogin?.token, error: refusal }));
      if (login !== undefined) continue;
      if (sentLogin !== undefined) tabs.notify('ended');
      return null;
    }
  }

  async function getSession({ signal, fresh = false }: Abortable & { fresh?: boolean | undefined } = {}) {
    throwIfAborted(signal);
    await forCaller(load(), signal);
    // With a backend, only a request shows whether somebody has logged in without this client.
    if (state.current.status === 'signed_out' && !(fresh && usesBackend)) return null;
    if (!fresh && cached?.isFresh()) return cached.session;
    renewing ??= renew().finally(() => {
      renewing = undefined;
    });
    return forCaller(renewing, signal);
  }

  /** Whether a logout of this login waits until Postern knows of it, here or in another tab. */
  async function isEnding({ token }: StoredLogin): Promise<boolean> {
    return JSON.parse((await marks.get(revokeKey)) ?? '{}').token === token;
  }

  /** Ends tokens, and removes the mark of the logout if Postern knows that all have ended. Never rejects. */
  async function revoke(...ended: readonly string[]): Promise<boolean> {
    const isRevoked = (await Promise.all(ended.map(tokens.revoke))).every(Boolean);
    if (isRevoked && ended.length > 0) await marks.delete(revokeKey);
    return isRevoked;
  }

  let revoking: Promise<boolean> | undefined;
  async function logOut(): Promise<{ readonly revoked: boolean }> {
    requireOpen();
    if (!usesBackend) await load().catch(() => undefined);
    // Before the backend was asked, somebody may be signed in.
    const ended = JSON.stringify(usesBackend && state.current.status === 'starting' ? { token: '' } : login);
    // Before anything else, because the page may be closed at once.
    const marked = ended && marks.set(revokeKey, ended);
    setLogin(undefined, 'logged_out');
    const removed = inOrder(async () => {
      await marked;
      // Another tab may have stored a newer token or another login, which this tab does not know yet.
      const [stored] = await Promise.all([
        limited(readLogin(ownStorage), patienceMs).catch(() => undefined),
        safe.delete(loginKey),
      ]);
      tabs.notify('logged_out');
      const other = JSON.stringify(stored);
      if (other === undefined || other === ended) return [];
      setLogin(undefined, 'logged_out');
      return [other];
    });
    // A call that replaces the token looks for the mark before and after, so the mark stays until then.
    revoking = removed.then(async (others) => {
      await untilReplaced();
      return revoke(...others, ...(ended ? [ended] : []));
    });
    return { revoked: await revoking };
  }

  const { call, withSession } = createRequests(
    getSession,
    (session) => {
      if (cached?.session.token === session.token) cached = undefined;
    },
    () => isClosed,
  );

  /** Sends a request, and again with a solution if the service asks for one. */
  const checked = <T>(request: Call, send: (call: Call) => Promise<T>): Promise<T> =>
    send(request).catch(async (error) => {
      if (!isProblem(error, 'human_check_required')) throw error;
      const { repeat } = await loadPart(() => import('../human-check/human-check.js'));
      return repeat(error.human_check, request, send, core);
    });

  const core: Core = {
    base,
    transport: options.fetch === undefined ? transportOptions : undefined,
    passkeys: options.passkeys,
    async send(request) {
      // The answers to a logout and to a new password change the cookie of the backend, which must not be the one of the next login.
      if (usesBackend && !request.authorization) {
        await revoking;
        await untilReplaced();
      }
      return checked<never>(request, (call) => transport.json({ ...call, onHeaders: tokens.storeNonce }));
    },
    call: <T>(request: Call) => checked<T>(request, (one) => call<T>(one, transport.json)),
    raw: (request) => call(request, transport.raw),
    onResume: (wake) => (options.onResume ?? onResumeOfPage)(wake),
    onClose(end) {
      closers.add(end);
      return () => closers.delete(end);
    },
    device: options.device,
    signer: tokens.signer,
    storage: safe,
    async signIn({ token = '', user_id, device_id, is_bound }, onDone) {
      requireOpen();
      const next = { token, user_id, device_id, ...(is_bound && { is_bound }) };
      await inOrder(async () => {
        const [wasStored] = await Promise.all([
          writeLogin(safe, next),
          safe.set(deviceKey, device_id),
          // The token of a logout may be that of another user: the next start revokes it.
          usesBackend && marks.delete(revokeKey),
        ]);
        // The next start must not find the login of a former user.
        if (!wasStored) await safe.delete(loginKey);
        setLogin(next, 'ended', undefined, onDone);
        isStored = wasStored;
        tabs.notify('login');
      });
    },
    login: () => login,
    isEnding,
    callWith: call,
    marks,
    timeout,
    renewed: async () => renewing?.catch(() => undefined),
    notifyTabs: tabs.notify,
    async setToken(token, former) {
      version += 1;
      if (usesBackend) return;
      await inOrder(async () => {
        const next = { ...former, token };
        // Otherwise, somebody has logged out since the call began, or another user in.
        if (login?.token === former.token) {
          login = next;
          isStored = await writeLogin(safe, next);
          if (!(await isEnding(former))) return;
          await safe.delete(loginKey);
          setLogin(undefined, 'logged_out');
        }
        void tokens.revoke(JSON.stringify(next));
      });
    },
    startSignedOut() {
      // On a server, the users of all requests share the client.
      if (!usesBackend || !platform().document || loading || state.current.status !== 'starting') return;
      tabs.open();
      void marks.delete(revokeKey);
      setLogin(undefined, 'never_signed_in');
    },
    forget: async () => {
      await inOrder(() => safe.delete(loginKey));
      setLogin(undefined, 'logged_out');
      tabs.notify('logged_out');
    },
    requireOpen,
    onError,
  };

  const postern: Postern & { readonly [coreKey]: Core } = {
    get current() {
      return state.current;
    },
    subscribe(listener) {
      void load().catch(() => undefined);
      return state.subscribe(listener);
    },
    onChange(listener) {
      void load().catch(() => undefined);
      return state.onChange(listener);
    },
    url: new URL(`${base}/`),
    ready: load,
    getSession,
    /** An app that sends no requests of its own loads no code for it. */
    async fetch(input, init) {
      const { fetchWithSession } = await loadPart(() => import('./fetch.js'));
      return fetchWithSession(base, options, withSession, input, init);
    },
    logOut,
    close() {
      isClosed = true;
      cached = undefined;
      for (const end of closers) end();
      closers.clear();
    },
    [coreKey]: core,
  };
  return postern;
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
    throw new UsageError(
      "`storage` must be 'backend' or a storage such as indexedDbStorage(), not localStorage itself.",
    );
  }
  if (!(timeout > 0)) throw new UsageError('`timeout` must be milliseconds above 0.');
  return { base, storage, timeout };
}
