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
   * A session token that is valid now. Renews it if it ends soon, once for all callers. After the login has ended it waits
   * until the same user has signed in again.
   */
  token(): Promise<string>;
  /** The service refused this token: the next call renews it. */
  discardToken(token: string): void;
  end(): Promise<void>;
  /** Another tab has signed out. */
  forget(): void;
}

/** The time in milliseconds until a token is renewed: when a tenth of its life is left, but at least 30 s before its end. */
function renewalDelay(session: GrantedSession): number {
  const lifetime = Date.parse(session.expires_at) - Date.parse(session.created_at);
  return Math.max(0, lifetime - Math.max(lifetime / 10, Math.min(30_000, lifetime / 2)));
}

/** Keeps the session token in memory only, so no script can read it from a storage of the browser. */
export function createSession(service: SessionService): ConsoleSession {
  const state = createStore<SessionState>({ status: 'unknown' });
  let currentToken: { readonly token: string; readonly renewAt: number } | undefined;
  let renewal: Promise<void> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function setSession(session: GrantedSession): void {
    const before = state.get();
    // Drafts and lists belong to the former user.
    const isOtherUser = (before.status === 'in' || before.status === 'ended') && before.userId !== session.user_id;
    const renewIn = renewalDelay(session);
    // The clock of this machine may be wrong: only the length of the session counts.
    currentToken = { token: session.token, renewAt: performance.now() + renewIn };
    clearTimeout(timer);
    // Renews also while nobody uses the page, so that the next click does not wait for a renewal.
    timer = setTimeout(() => void renew().catch(() => undefined), Math.min(renewIn, 2 ** 31 - 1));
    if (isOtherUser) window.location.reload();
    else if (before.status !== 'in') state.set({ status: 'in', userId: session.user_id });
  }

  function onRefusal(error: unknown): void {
    const before = state.get();
    const isFinal = error instanceof ProblemError && error.status < 500 && error.status !== 429;
    if (!isFinal) return;
    currentToken = undefined;
    clearTimeout(timer);
    if (before.status === 'in') state.set({ status: 'ended', userId: before.userId, reason: error });
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
    if (currentToken !== undefined && performance.now() < currentToken.renewAt) return currentToken.token;
    const { status } = state.get();
    if (status === 'out') throw new SignedOutError();
    if (status === 'ended') return waitForSignIn();
    try {
      await renew();
    } catch (error) {
      if (state.get().status === 'ended') return waitForSignIn();
      // The old token is still valid, so a short failure of the service does not matter yet.
      if (currentToken !== undefined && error instanceof NetworkError) return currentToken.token;
      throw error;
    }
    if (currentToken === undefined) throw new SignedOutError();
    return currentToken.token;
  }

  async function waitForSignIn(): Promise<string> {
    const next = await firstValue(state, (value): value is SessionState => value.status !== 'ended');
    if (next.status !== 'in' || currentToken === undefined) throw new SignedOutError();
    return currentToken.token;
  }

  function forget(): void {
    currentToken = undefined;
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
      if (currentToken?.token === refusedToken) currentToken = undefined;
    },
    async end() {
      await service.close();
      forget();
    },
  };
}
