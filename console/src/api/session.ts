import { createStore, firstValue, type Store } from '../lib/store.js';
import { NetworkError, ProblemError, SignedOutError } from './problem.js';
import type { NewSession } from './schema.js';

/** The session token with its user. */
export type GrantedSession = Pick<NewSession, 'token' | 'user_id' | 'created_at' | 'expires_at'>;

export type SessionState =
  /** The page has just been opened. The cookie may have a login. */
  | { readonly status: 'unknown' }
  | { readonly status: 'out' }
  | { readonly status: 'in'; readonly userId: string }
  /** Nobody has used the page until the session expired. The next use renews it. */
  | { readonly status: 'away'; readonly userId: string }
  /** The login ended in the middle of the work: it expired, or it was revoked. */
  | { readonly status: 'ended'; readonly userId: string; readonly reason: ProblemError };

/** The requests of the session to the service. Without `authenticationToken`, the cookie renews the session. */
export interface SessionService {
  open(authenticationToken?: string): Promise<GrantedSession>;
  close(): Promise<void>;
}

export interface ConsoleSession {
  readonly state: Store<SessionState>;
  /** Looks for a login in the cookie. Throws if the service cannot be reached. */
  resume(): Promise<void>;
  /** Starts with the authentication token of a login. */
  start(authenticationToken: string): Promise<void>;
  /** Starts with a session that the service has just created, such as by the set-up. */
  startWithSession(session: GrantedSession): void;
  /**
   * A session token that is valid now. Renews it if it ends soon, once for all callers. If it has expired and nobody uses the
   * page, it waits for the next use. After the login has ended it waits until the same user has signed in again.
   */
  token(): Promise<string>;
  /** The service refused this token: the next call renews it. */
  discardToken(token: string): void;
  /** A re-authentication has replaced the session: the new token expires when the old one would have expired. */
  replaceToken(token: string): void;
  end(): Promise<void>;
  /** Another tab has signed out. */
  forget(): void;
}

interface HeldToken {
  readonly token: string;
  /** When it is renewed and when it ends, in the time of `performance.now()`. */
  readonly renewAt: number;
  readonly endsAt: number;
}

/** A token is renewed when a tenth of its life is left, but at least 30 s before its end. */
function heldToken({ token, created_at, expires_at }: GrantedSession): HeldToken {
  // The clock of this machine may be wrong: only the length of the session counts.
  const lifetime = Date.parse(expires_at) - Date.parse(created_at);
  const endsAt = performance.now() + lifetime;
  return { token, renewAt: endsAt - Math.max(lifetime / 10, Math.min(30_000, lifetime / 2)), endsAt };
}

/**
 * The page counts as used for this many milliseconds after an input. A renewal is a use of the login, so without inputs there is
 * none: neither by a timer nor by requests that the page repeats by itself. Otherwise an open page would keep its login.
 */
const useMs = 60_000;
const inputs = ['pointermove', 'pointerdown', 'keydown', 'wheel', 'touchstart'];

/** Notes when somebody uses the page. @param onUse is called at each input */
function watchUse(onUse: () => void) {
  let usedAt = performance.now();
  const waiting: (() => void)[] = [];
  function onInput(): void {
    usedAt = performance.now();
    onUse();
    for (const resume of waiting.splice(0)) resume();
  }
  for (const input of inputs) window.addEventListener(input, onInput, { capture: true, passive: true });
  return {
    isUsed: () => performance.now() - usedAt < useMs,
    next: () => new Promise<void>((resolve) => waiting.push(resolve)),
  };
}

/** Keeps the session token in memory only, so no script can read it from a storage of the browser. */
export function createSession(service: SessionService): ConsoleSession {
  const state = createStore<SessionState>({ status: 'unknown' });
  let current: HeldToken | undefined;
  let renewal: Promise<void> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const { isUsed, next: nextUse } = watchUse(() => {
    const { status } = state.get();
    const isOld = current === undefined || performance.now() >= current.renewAt;
    if ((status === 'in' || status === 'away') && isOld) void renew().catch(() => undefined);
  });

  function setSession(session: GrantedSession): void {
    const before = state.get();
    // Drafts and lists belong to the former user.
    const isOtherUser = 'userId' in before && before.userId !== session.user_id;
    const held = heldToken(session);
    current = held;
    clearTimeout(timer);
    timer = at(held.renewAt, () => {
      // Before it is needed, so that the next click does not wait for a renewal.
      if (isUsed()) void renew().catch(() => undefined);
      else timer = at(held.endsAt, leave);
    });
    if (isOtherUser) window.location.reload();
    else if (before.status !== 'in') state.set({ status: 'in', userId: session.user_id });
  }

  /** The page must not show anything of a session that has ended. */
  function leave(): void {
    const before = state.get();
    if (before.status === 'in' && !isUsed()) state.set({ status: 'away', userId: before.userId });
  }

  function onRefusal(error: unknown): void {
    const before = state.get();
    const isFinal = error instanceof ProblemError && error.status < 500 && error.status !== 429;
    if (!isFinal) return;
    current = undefined;
    clearTimeout(timer);
    if (before.status === 'in' || before.status === 'away')
      state.set({ status: 'ended', userId: before.userId, reason: error });
    else if (before.status === 'unknown') state.set({ status: 'out' });
  }

  function renew(): Promise<void> {
    renewal ??= service
      .open()
      .then(setSession, (error: unknown) => {
        onRefusal(error);
        throw error;
      })
      .finally(() => {
        renewal = undefined;
      });
    return renewal;
  }

  async function token(): Promise<string> {
    if (current !== undefined && performance.now() < current.renewAt) return current.token;
    const { status } = state.get();
    if (status === 'out') throw new SignedOutError();
    if (status === 'ended') return waitForSignIn();
    if (!isUsed()) {
      if (current !== undefined && performance.now() < current.endsAt) return current.token;
      await nextUse();
      return token();
    }
    try {
      await renew();
    } catch (error) {
      if (state.get().status === 'ended') return waitForSignIn();
      // The old token is still valid, so a short failure of the service does not matter yet.
      if (current !== undefined && error instanceof NetworkError) return current.token;
      throw error;
    }
    if (current === undefined) throw new SignedOutError();
    return current.token;
  }

  async function waitForSignIn(): Promise<string> {
    const next = await firstValue(state, (value): value is SessionState => value.status !== 'ended');
    if (next.status !== 'in' || current === undefined) throw new SignedOutError();
    return current.token;
  }

  function forget(): void {
    current = undefined;
    clearTimeout(timer);
    state.set({ status: 'out' });
  }

  return {
    state,
    token,
    forget,
    startWithSession: setSession,
    resume: () => renew().catch((error) => (state.get().status === 'out' ? undefined : Promise.reject(error))),
    start: async (authenticationToken) => setSession(await service.open(authenticationToken)),
    discardToken(refusedToken) {
      if (current?.token !== refusedToken) return;
      current = undefined;
      leave();
    },
    replaceToken(token) {
      if (current !== undefined) current = { ...current, token };
    },
    async end() {
      await service.close();
      forget();
    },
  };
}

/** A timer for any time of `performance.now()`: the browser fires longer ones at once. */
const at = (time: number, work: () => void) => setTimeout(work, Math.min(time - performance.now(), 2 ** 31 - 1));
