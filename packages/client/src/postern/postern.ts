import { type Core, coreKey, type StoredLogin } from '../core.js';
import { isProblem, UsageError } from '../errors.js';
import type { DpopSigner } from '../login/dpop-signer.js';
import { type Abortable, forCaller, platform, stopwatch, throwIfAborted, type Unsubscribe } from '../platform.js';
import type { PosternStorage } from '../storage/storage.js';
import { createStore } from '../store.js';
import { baseOf, type Call, createTransport, loadPart } from '../transport.js';
import type { AuthState, HeldSession, Postern, PosternOptions, SettledAuthState } from '../types.js';
import type { NewSession } from '../wire.js';
import { deviceOfBrowser, onResumeOfPage } from './browser.js';
import {
  deviceKey,
  type LoginToken,
  readLogin,
  readTokenToRevoke,
  removeLogin,
  removeTokenToRevoke,
  safeStorage,
  writeLogin,
} from './login-storage.js';
import { createRequests, withRetry } from './requests.js';
import { createTabs } from './tabs.js';

/** A session is renewed this many milliseconds before it expires. A session with a short lifetime is renewed in its last quarter. */
const renewalMs = 30_000;

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
  // A server that renders the page does not know its origin, and a URL needs one. The server sends no requests to this URL.
  const isRendering = options?.storage === 'backend' && !platform().location && `${options.url}`.startsWith('/');
  const base = baseOf(isRendering ? `https://page.invalid${options.url}` : options?.url);
  const { storage, timeout = 10_000, onError } = options;
  const usesBackend = storage === 'backend';
  if (!usesBackend && ![storage?.get, storage?.set, storage?.delete].every((member) => typeof member === 'function')) {
    throw new UsageError(
      "`storage` must be 'backend' or a storage such as indexedDbStorage(). Browser objects such as localStorage do not work.",
    );
  }
  if (!(timeout > 0)) throw new UsageError('`timeout` must be a number of milliseconds.');
  const transportOptions = { base, locale: options.locale, timeout, cookies: usesBackend };
  const transport = createTransport({ ...transportOptions, fetch: options.fetch });
  const safe = safeStorage(storage, onError);
  const state = createStore<AuthState>({ status: 'starting' });
  const closers = new Set<Unsubscribe>();
  let isClosed = false;
  let login: StoredLogin | undefined;
  let loading: Promise<SettledAuthState> | undefined;
  let cached: { readonly session: HeldSession; readonly isFresh: () => boolean } | undefined;
  let renewing: Promise<HeldSession | null> | undefined;

  const signedIn = ({ user_id, device_id }: Omit<StoredLogin, 'token'>) =>
    ({ status: 'signed_in', user_id, device_id }) as const;

  function setLogin(
    next: StoredLogin | undefined,
    reason: 'never_signed_in' | 'logged_out' | 'ended',
    error?: unknown,
  ): SettledAuthState {
    if (next?.token !== login?.token || next?.user_id !== login?.user_id) cached = undefined;
    login = next;
    const problem = isProblem(error, 'invalid_dpop_proof') ? error : undefined;
    const settled =
      next === undefined ? ({ status: 'signed_out', reason, ...(problem && { problem }) } as const) : signedIn(next);
    const { current } = state;
    const isSame =
      current.status === settled.status &&
      (next === undefined || ('user_id' in current && current.user_id === next.user_id));
    if (!isSame) state.set(settled);
    return state.current as SettledAuthState;
  }

  /** Another tab logged in or out. */
  async function followOtherTab(): Promise<void> {
    if (state.current.status === 'starting') return;
    if (usesBackend) {
      cached = undefined;
      await getSession({ fresh: true }).catch(() => undefined);
    } else {
      setLogin(await readLogin(safe), 'logged_out');
    }
  }
  const tabs = createTabs(`postern ${base}`, options.tabs ?? true, () => void followOtherTab().catch(onError));
  closers.add(() => tabs.close());

  function requireOpen(): void {
    if (isClosed) throw new UsageError('This client is closed. Make another one with createPostern.');
  }

  async function load(): Promise<SettledAuthState> {
    requireOpen();
    loading ??= (async () => {
      tabs.open();
      const tokenToRevoke = await readTokenToRevoke(safe);
      if (tokenToRevoke !== undefined) void revoke(tokenToRevoke).catch(() => undefined);
      if (!usesBackend) return setLogin(await readLogin(safe), 'never_signed_in');
      // Only the backend knows who is signed in, by its cookie.
      await renew();
      return state.current as SettledAuthState;
    })().catch((error) => {
      loading = undefined;
      const end = core.onResume(() => {
        end();
        closers.delete(end);
        void load().catch(() => undefined);
      });
      closers.add(end);
      throw error;
    });
    return loading;
  }

  /** Only clients whose storage keeps keys load the signer. */
  let dpopSigner: Promise<DpopSigner> | undefined;
  const loadDpopSigner = (store: PosternStorage): Promise<DpopSigner> =>
    (dpopSigner ??= loadPart(() => import('../login/dpop-signer.js'))
      .then(({ createDpopSigner }) => createDpopSigner({ base, transport, storage: store }))
      .catch((error) => {
        dpopSigner = undefined;
        throw error;
      }));

  /** Sends the authentication token, with a proof if it is bound to a key. */
  async function sendToken<T>(method: 'POST' | 'DELETE', path: string, sentLogin: LoginToken | undefined): Promise<T> {
    const call = { method, path, authorization: sentLogin && `Basic ${btoa(`${sentLogin.token}:`)}` };
    if (sentLogin?.is_bound && storage !== 'backend')
      return (await loadDpopSigner(storage)).send(call, sentLogin.token);
    return transport.json<T>(call);
  }

  async function renew(): Promise<HeldSession | null> {
    for (;;) {
      const sentLogin = login;
      if (sentLogin === undefined && !usesBackend) return null;
      const elapsed = stopwatch();
      try {
        const session = await withRetry(
          () => sendToken<NewSession>('POST', '/v1/sessions', sentLogin),
          () => isClosed,
        );
        requireOpen();
        if (sentLogin !== login) continue;
        const lifetimeMs = Date.parse(session.expires_at) - Date.parse(session.created_at);
        // The clocks of the service and of the device are never compared. The random part spreads the renewals of many tabs.
        const usableMs = lifetimeMs - Math.min(renewalMs, lifetimeMs / 4) * (1 + Math.random() / 3);
        cached = { session, isFresh: () => elapsed() < usableMs };
        if (usesBackend) login = { token: '', user_id: session.user_id, device_id: session.device_id };
        const { current } = state;
        if (current.status !== 'signed_in' || current.user_id !== session.user_id) state.set(signedIn(session));
        return session;
      } catch (error) {
        if (sentLogin !== login) continue;
        if (isProblem(error, 'account_locked', 'account_unusable') && sentLogin !== undefined) {
          cached = undefined;
          state.set({ ...signedIn(sentLogin), status: 'suspended', problem: error });
        }
        if (!isProblem(error) || error.status !== 401) throw error;
        // Another tab may have stored a newer token, which ended this one.
        const newer = await readLogin(safe);
        if (newer !== undefined && newer.token !== sentLogin?.token) {
          setLogin(newer, 'ended');
          continue;
        }
        await removeLogin(safe);
        setLogin(undefined, sentLogin === undefined ? 'never_signed_in' : 'ended', error);
        return null;
      }
    }
  }

  async function getSession({ signal, fresh = false }: Abortable & { fresh?: boolean | undefined } = {}) {
    throwIfAborted(signal);
    await forCaller(load(), signal);
    if (!fresh && cached?.isFresh()) return cached.session;
    renewing ??= renew().finally(() => {
      renewing = undefined;
    });
    return forCaller(renewing, signal);
  }

  /** @returns whether Postern knows that the token has ended */
  async function revoke(ended: LoginToken | undefined): Promise<boolean> {
    try {
      await sendToken('DELETE', '/v1/tokens', ended);
    } catch (error) {
      // After a 401, there is nothing to revoke. Without its key, a bound token is useless already.
      if (!isProblem(error) || error.status !== 401) return false;
    }
    await removeTokenToRevoke(safe);
    return true;
  }

  async function logOut(): Promise<{ readonly revoked: boolean }> {
    await load();
    const ended = usesBackend ? undefined : login;
    const wasSignedIn = login !== undefined;
    setLogin(undefined, 'logged_out');
    await removeLogin(safe, ended);
    tabs.notify();
    return { revoked: wasSignedIn ? await revoke(ended) : true };
  }

  const [call, fetchWithSession] = createRequests(
    base,
    options,
    getSession,
    (session) => {
      if (cached?.session.token === session.token) cached = undefined;
    },
    () => isClosed,
  );

  const core: Core = {
    base,
    transport: options.fetch === undefined ? transportOptions : undefined,
    passkeys: options.passkeys,
    // The answer to a login may contain a nonce, which the first proof needs.
    send: (request) =>
      transport.json({ ...request, onHeaders: (all) => void dpopSigner?.then((signer) => signer.storeNonce(all)) }),
    call: <T>(request: Call) => call<T>(request, transport.json),
    raw: (request) => call(request, transport.raw),
    onResume: (wake) => (options.onResume ?? onResumeOfPage)(wake),
    onClose(end) {
      closers.add(end);
      return () => closers.delete(end);
    },
    async device() {
      const { device: description = deviceOfBrowser } = options;
      const id = await safe.get(deviceKey);
      return {
        ...(await (typeof description === 'function' ? description() : description)),
        ...(id !== null && { id }),
      };
    },
    async loginDevice() {
      const signer = usesBackend || !storage.addKey ? undefined : await loadDpopSigner(storage);
      // A browser that cannot keep keys, such as in a private window, must not keep the user from logging in.
      const jwk = await signer?.publicKey().catch((error) => void onError?.(error));
      return { ...(await core.device()), ...(jwk && { jwk }) };
    },
    storage: safe,
    async signIn({ token = '', user_id, device_id, is_bound }) {
      await load();
      const next = { token, user_id, device_id, ...(is_bound && { is_bound }) };
      await writeLogin(safe, next);
      await safe.set(deviceKey, device_id);
      await removeTokenToRevoke(safe);
      cached = undefined;
      setLogin(next, 'ended');
      tabs.notify();
    },
    async replaceToken(token) {
      if (login === undefined || usesBackend) return;
      login = { ...login, token };
      await writeLogin(safe, login);
      tabs.notify();
    },
    forget: async () => {
      await removeLogin(safe);
      setLogin(undefined, 'logged_out');
      tabs.notify();
    },
    requireOpen,
    onError: (error) => onError?.(error),
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
    fetch: fetchWithSession,
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
