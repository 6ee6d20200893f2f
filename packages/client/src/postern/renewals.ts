import type { Core } from '../core.js';
import { ForeignAnswerError, isProblem, isUnauthorized } from '../errors.js';
import { wait } from '../platform.js';
import { stopwatch } from '../time.js';
import type { Call } from '../transport.js';
import type { HeldSession } from '../types.js';
import type { NewSession } from '../wire.js';
import { signedIn } from './held-login.js';
import { replacingMark, revokeKey } from './login-storage.js';
import { withRetry } from './retry.js';

/** A session is renewed this many milliseconds before it expires. A session with a short lifetime is renewed in its last quarter. */
const renewalMs = 30_000;

/** The answer of a backend if nobody is logged in. A 401 would be an error in the console of each page that loads. */
interface NoSession {
  readonly token: null;
}
const sessionCall: Call = { method: 'POST', path: '/v1/sessions', expects: 'token' };

/** Waits while a call replaces the token, here or in another tab. @returns whether it had to wait */
export async function untilReplaced({
  marks,
  timeout,
  isClosed,
}: Pick<Core, 'marks' | 'timeout' | 'isClosed'>): Promise<boolean> {
  for (let hasWaited = false; ; hasWaited = true) {
    const left = Number(await marks.get(replacingMark)) - Date.now();
    // The tab may have been closed, or its clock set back.
    if (isClosed() || !(left > 0 && left <= timeout)) return hasWaited;
    await wait(100);
  }
}

function accept({ held, usesBackend }: Core, session: NewSession, elapsed: () => number): HeldSession {
  const lifetimeMs = Date.parse(session.expires_at) - Date.parse(session.created_at);
  // The clocks of the service and of the device are never compared. The random part spreads the renewals of many tabs.
  const usableMs = lifetimeMs - Math.min(renewalMs, lifetimeMs / 4) * (1 + Math.random() / 3);
  held.cached = { session, isFresh: () => elapsed() < usableMs };
  if (usesBackend) held.login = { token: '', user_id: session.user_id, device_id: session.device_id };
  held.show(signedIn(session));
  return session;
}

/** Gets a session for the login that the client has. Null: nobody is signed in. */
export async function renew(core: Core): Promise<HeldSession | null> {
  const { held, usesBackend } = core;
  for (let isFirst = true; ; isFirst = false) {
    await untilReplaced(core);
    core.requireOpen();
    // Before the next `await`, so that a logout during it counts.
    const { login, version } = held;
    if (usesBackend && (await core.marks.get(revokeKey)) !== null) {
      held.set(undefined, 'logged_out');
      return null;
    }
    // Somebody may have logged out during the request.
    if (usesBackend ? !isFirst && held.state.current.status === 'signed_out' : held.login === undefined) return null;
    const elapsed = stopwatch();
    let refusal: unknown;
    try {
      const session = await withRetry(
        () => core.tokens.send<NewSession | NoSession>(sessionCall, login),
        core.isClosed,
      );
      core.requireOpen();
      if (version !== held.version) continue;
      if (session.token !== null) return accept(core, session, elapsed);
      if (!usesBackend) throw new ForeignAnswerError(200);
    } catch (error) {
      if (version !== held.version) continue;
      if (isProblem(error, 'account_locked', 'account_unusable') && login !== undefined) {
        held.cached = undefined;
        held.state.set({ ...signedIn(login), status: 'suspended', problem: error });
      }
      if (!isUnauthorized(error)) throw error;
      refusal = error;
    }
    // With a backend, the answer may be to the cookie before a new token of another tab.
    if ((await untilReplaced(core)) || (usesBackend && isFirst && login)) continue;
    // Another tab may have stored a newer token, which ended this one.
    const reason = login === undefined ? 'never_signed_in' : 'ended';
    await held.inOrder(() => held.readAgain(reason, { token: login?.token, error: refusal }));
    if (held.login !== undefined) continue;
    if (login !== undefined) core.tabs.notify('ended');
    return null;
  }
}
