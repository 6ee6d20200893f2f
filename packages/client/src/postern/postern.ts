import { type Core, coreKey, type StoredLogin } from '../core.js';
import { isProblem, UsageError } from '../errors.js';
import type { Possession } from '../login/possession.js';
import { type Abortable, forCaller, platform, stopwatch, type Unsubscribe } from '../platform.js';
import type { PosternStorage } from '../storage/storage.js';
import { createStore } from '../store.js';
import { baseOf, type Call, createTransport, loadPart } from '../transport.js';
import type { AuthState, HeldSession, Postern, PosternOptions, SettledAuthState } from '../types.js';
import type { NewSession } from '../wire.js';
import { deviceOfBrowser, onResumeOfPage } from './browser.js';
import {
  deviceKey,
  type HeldToken,
  readLogin,
  readUnended,
  removeLogin,
  removeUnended,
  safeStorage,
  writeLogin,
} from './login-storage.js';
import { createRequests, patiently } from './requests.js';
import { createTabs } from './tabs.js';

/** Problems of a logout that leave nothing to end. Without its key, a bound token is useless already. */
const endedCodes = [
  ...(['invalid_authentication_token', 'no_active_token', 'missing_credentials', 'invalid_dpop_proof'] as const),
];
/** A session is renewed this long before it expires, in milliseconds; a short one in the last quarter of its life. */
const renewalMs = 30_000;

/**
 * Makes a client. It reads and sends nothing until it is used.
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
 * @throws UsageError for options that make no sense
 */
export function createPostern(options: PosternOptions): Postern {
  // A server that renders the page has no origin for a path. It never sends requests to this one.
  const isRendering = options?.storage === 'backend' && !platform().location && `${options.url}`.startsWith('/');
  const base = baseOf(isRendering ? `https://page.invalid${options.url}` : options?.url);
  const { storage, timeout = 10_000, onError } = options;
  const inBackend = storage === 'backend';
  if (!inBackend && ![storage?.get, storage?.set, storage?.delete].every((one) => typeof one === 'function')) {
    throw new UsageError(
      "`storage` must be 'backend' or a storage such as indexedDbStorage(), and not the browser's own object.",
    );
  }
  if (!(timeout > 0)) throw new UsageError('`timeout` must be a number of milliseconds.');
  const sending = { base, locale: options.locale, timeout, cookies: inBackend };
  const transport = createTransport({ ...sending, fetch: options.fetch });
  const stored = safeStorage(storage, onError);
  const state = createStore<AuthState>({ status: 'starting' });
  const closers = new Set<Unsubscribe>();
  let isClosed = false;
  let login: StoredLogin | undefined;
  let loading: Promise<SettledAuthState> | undefined;
  let held: { readonly session: HeldSession; readonly isGood: () => boolean } | undefined;
  let renewing: Promise<HeldSession | null> | undefined;

  const signedIn = ({ user_id, device_id }: Omit<StoredLogin, 'token'>) =>
    ({ status: 'signed_in', user_id, device_id }) as const;

  function become(
    next: StoredLogin | undefined,
    reason: 'never_signed_in' | 'logged_out' | 'ended',
    error?: unknown,
  ): SettledAuthState {
    if (next?.token !== login?.token || next?.user_id !== login?.user_id) held = undefined;
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
  async function follow(): Promise<void> {
    if (state.current.status === 'starting') return;
    if (inBackend) {
      held = undefined;
      await getSession({ fresh: true }).catch(() => undefined);
    } else {
      become(await readLogin(stored), 'logged_out');
    }
  }
  const tabs = createTabs(`postern ${base}`, options.tabs ?? true, () => void follow().catch(onError));
  closers.add(() => tabs.close());

  function demandOpen(): void {
    if (isClosed) throw new UsageError('This client is closed. Make another one with createPostern.');
  }

  async function load(): Promise<SettledAuthState> {
    demandOpen();
    loading ??= (async () => {
      tabs.open();
      const unended = await readUnended(stored);
      if (unended !== undefined) void revoke(unended).catch(() => undefined);
      if (!inBackend) return become(await readLogin(stored), 'never_signed_in');
      // Only the backend knows, by its cookie.
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

  /** Only clients whose storage keeps keys load the part that signs. */
  let signing: Promise<Possession> | undefined;
  const possession = (store: PosternStorage): Promise<Possession> =>
    (signing ??= loadPart(() => import('../login/possession.js'))
      .then(({ createPossession }) => createPossession({ base, transport, storage: store }))
      .catch((error) => {
        signing = undefined;
        throw error;
      }));

  /** Sends the authentication token, with a proof if it is bound to a key. */
  async function sendToken<T>(method: 'POST' | 'DELETE', path: string, used: HeldToken | undefined): Promise<T> {
    const call = { method, path, authorization: used && `Basic ${btoa(`${used.token}:`)}` };
    if (used?.is_bound && storage !== 'backend') return (await possession(storage)).send(call, used.token);
    return transport.json<T>(call);
  }

  async function renew(): Promise<HeldSession | null> {
    for (;;) {
      const used = login;
      if (used === undefined && !inBackend) return null;
      const elapsed = stopwatch();
      try {
        const session = await patiently(
          () => sendToken<NewSession>('POST', '/v1/sessions', used),
          () => isClosed,
        );
        demandOpen();
        if (used !== login) continue;
        const life = Date.parse(session.expires_at) - Date.parse(session.created_at);
        // The time of the service and of the device are never compared. The random part spreads the renewals of many tabs.
        const good = life - Math.min(renewalMs, life / 4) * (1 + Math.random() / 3);
        held = { session, isGood: () => elapsed() < good };
        if (inBackend) login = { token: '', user_id: session.user_id, device_id: session.device_id };
        const { current } = state;
        if (current.status !== 'signed_in' || current.user_id !== session.user_id) state.set(signedIn(session));
        return session;
      } catch (error) {
        if (used !== login) continue;
        if (isProblem(error, 'account_locked', 'account_unusable') && used !== undefined) {
          held = undefined;
          state.set({ ...signedIn(used), status: 'suspended', problem: error });
        }
        if (!isProblem(error) || error.status !== 401) throw error;
        // Another tab may have stored a newer token, which ended this one.
        const newer = await readLogin(stored);
        if (newer !== undefined && newer.token !== used?.token) {
          become(newer, 'ended');
          continue;
        }
        await removeLogin(stored);
        become(undefined, used === undefined ? 'never_signed_in' : 'ended', error);
        return null;
      }
    }
  }

  async function getSession({ signal, fresh = false }: Abortable & { fresh?: boolean | undefined } = {}) {
    signal?.throwIfAborted();
    await forCaller(load(), signal);
    if (!fresh && held?.isGood()) return held.session;
    renewing ??= renew().finally(() => {
      renewing = undefined;
    });
    return forCaller(renewing, signal);
  }

  /** @returns whether Postern knows that the token has ended */
  async function revoke(ended: HeldToken | undefined): Promise<boolean> {
    try {
      await sendToken('DELETE', '/v1/tokens', ended);
    } catch (error) {
      if (!isProblem(error, ...endedCodes)) return false;
    }
    await removeUnended(stored);
    return true;
  }

  async function logOut(): Promise<{ readonly revoked: boolean }> {
    await load();
    const ended = inBackend ? undefined : login;
    const wasSignedIn = login !== undefined;
    become(undefined, 'logged_out');
    await removeLogin(stored, ended);
    tabs.tell();
    return { revoked: wasSignedIn ? await revoke(ended) : true };
  }

  const [call, send] = createRequests(
    base,
    options,
    getSession,
    (session) => {
      if (held?.session.token === session.token) held = undefined;
    },
    () => isClosed,
  );

  const core: Core = {
    base,
    transport: options.fetch === undefined ? sending : undefined,
    passkeys: options.passkeys,
    // The answer to a login may have the nonce of the first proof.
    send: (asked) =>
      transport.json({ ...asked, onHeaders: (all) => void signing?.then((part) => part.keepNonce(all)) }),
    call: <T>(asked: Call) => call<T>(asked, transport.json),
    raw: (asked) => call(asked, transport.raw),
    onResume: (wake) => (options.onResume ?? onResumeOfPage)(wake),
    onClose(end) {
      closers.add(end);
      return () => closers.delete(end);
    },
    async device() {
      const { device: own = deviceOfBrowser } = options;
      const id = await stored.get(deviceKey);
      return { ...(await (typeof own === 'function' ? own() : own)), ...(id !== null && { id }) };
    },
    async loginDevice() {
      const part = inBackend || !storage.addKey ? undefined : await possession(storage);
      // A browser that cannot keep keys, such as in a private window, must not keep the user from logging in.
      const jwk = await part?.publicKey().catch((error) => void onError?.(error));
      return { ...(await core.device()), ...(jwk && { jwk }) };
    },
    storage: stored,
    async signIn({ token = '', user_id, device_id, is_bound }) {
      await load();
      const next = { token, user_id, device_id, ...(is_bound && { is_bound }) };
      await writeLogin(stored, next);
      await stored.set(deviceKey, device_id);
      await removeUnended(stored);
      held = undefined;
      become(next, 'ended');
      tabs.tell();
    },
    async replaceToken(token) {
      if (login === undefined || inBackend) return;
      login = { ...login, token };
      await writeLogin(stored, login);
      tabs.tell();
    },
    forget: async () => {
      await removeLogin(stored);
      become(undefined, 'logged_out');
      tabs.tell();
    },
    demandOpen,
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
    fetch: send,
    logOut,
    close() {
      isClosed = true;
      held = undefined;
      for (const end of closers) end();
      closers.clear();
    },
    [coreKey]: core,
  };
  return postern;
}
