import { createStore, type Store, valueThat } from '../lib/store.js';
import { NetworkError, ProblemError, SignedOutError } from './problem.js';
import type { NewSession } from './schema.js';

/** The session token with its user. */
export type GrantedSession = Pick<NewSession, 'token' | 'user_id' | 'created_at' | 'expires_at'>;

export type SessionState =
  /** The page has just been opened: the cookie may still have a login. */
  | { readonly is: 'unknown' }
  | { readonly is: 'out' }
  | { readonly is: 'in'; readonly userId: string }
  /** The login ended in the middle of the work: it expired, or it was revoked. */
  | { readonly is: 'ended'; readonly userId: string; readonly reason: ProblemError };

/** The service, as the session needs it. `authenticationToken` is missing for a renewal by the cookie. */
export interface SessionService {
  open(authenticationToken?: string): Promise<GrantedSession>;
  close(): Promise<void>;
}

export interface ConsoleSession {
  readonly state: Store<SessionState>;
  /** Looks for a login in the cookie. Throws if the service cannot be reached. */
  resume(): Promise<void>;
  /** Starts with the authentication token of a login. */
  begin(authenticationToken: string): Promise<void>;
  /** Starts with a session that the service has just created, such as by the set-up. */
  adopt(session: GrantedSession): void;
  /**
   * A session token that is valid now. Renews it if it ends soon, once for all callers. After the login has ended it waits
   * until the same user has signed in again.
   */
  token(): Promise<string>;
  /** The service refused this token: the next call renews it. */
  discard(token: string): void;
  end(): Promise<void>;
  /** Another tab has signed out. */
  forget(): void;
}

/** A token is renewed when a tenth of its life is left, but at least 30 s before its end. */
function renewalAfter(session: GrantedSession): number {
  const life = Date.parse(session.expires_at) - Date.parse(session.created_at);
  return Math.max(0, life - Math.max(life / 10, Math.min(30_000, life / 2)));
}

/** Keeps the session token in memory only: nothing that a script can read survives the tab. */
export function createSession(service: SessionService): ConsoleSession {
  const state = createStore<SessionState>({ is: 'unknown' });
  let current: { readonly token: string; readonly renewAt: number } | undefined;
  let renewal: Promise<void> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function accept(session: GrantedSession): void {
    const before = state.get();
    // Drafts and lists belong to the former user.
    const isAnother = (before.is === 'in' || before.is === 'ended') && before.userId !== session.user_id;
    const wait = renewalAfter(session);
    // The clock of this machine may be wrong: only the length of the session counts.
    current = { token: session.token, renewAt: performance.now() + wait };
    clearTimeout(timer);
    // Also while nobody uses the page, so that the next click needs no renewal.
    timer = setTimeout(() => void renew().catch(() => undefined), Math.min(wait, 2 ** 31 - 1));
    if (isAnother) window.location.reload();
    else if (before.is !== 'in') state.set({ is: 'in', userId: session.user_id });
  }

  function refused(error: unknown): void {
    const before = state.get();
    const isFinal = error instanceof ProblemError && error.status < 500 && error.status !== 429;
    if (!isFinal) return;
    current = undefined;
    clearTimeout(timer);
    if (before.is === 'in') state.set({ is: 'ended', userId: before.userId, reason: error });
    else if (before.is === 'unknown') state.set({ is: 'out' });
  }

  function renew(): Promise<void> {
    renewal ??= service
      .open()
      .then(accept, (error: unknown) => {
        refused(error);
        throw error;
      })
      .finally(() => {
        renewal = undefined;
      });
    return renewal;
  }

  async function token(): Promise<string> {
    if (current !== undefined && performance.now() < current.renewAt) return current.token;
    const now = state.get();
    if (now.is === 'out') throw new SignedOutError();
    if (now.is === 'ended') return waitForSignIn();
    try {
      await renew();
    } catch (error) {
      if (state.get().is === 'ended') return waitForSignIn();
      // The old token is still valid, so a short failure of the service does not matter yet.
      if (current !== undefined && error instanceof NetworkError) return current.token;
      throw error;
    }
    if (current === undefined) throw new SignedOutError();
    return current.token;
  }

  async function waitForSignIn(): Promise<string> {
    const next = await valueThat(state, (value): value is SessionState => value.is !== 'ended');
    if (next.is !== 'in' || current === undefined) throw new SignedOutError();
    return current.token;
  }

  function forget(): void {
    current = undefined;
    clearTimeout(timer);
    state.set({ is: 'out' });
  }

  return {
    state,
    token,
    forget,
    adopt: accept,
    resume: () => renew().catch((error) => (state.get().is === 'out' ? undefined : Promise.reject(error))),
    begin: async (authenticationToken) => accept(await service.open(authenticationToken)),
    discard(refusedToken) {
      if (current?.token === refusedToken) current = undefined;
    },
    async end() {
      await service.close();
      forget();
    },
  };
}
