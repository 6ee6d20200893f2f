import type { Core } from '../core.js';
import { limited } from '../platform.js';
import { loginKey, readLogin, revokeKey, storageTimeoutMs } from './login-storage.js';
import { untilReplaced } from './renewals.js';

/** Ends tokens, and removes the mark of the logout if Postern knows that all have ended. Never rejects. */
async function revoke({ tokens, marks }: Core, ...ended: readonly string[]): Promise<boolean> {
  const isRevoked = (await Promise.all(ended.map(tokens.revoke))).every(Boolean);
  if (isRevoked && ended.length > 0) await marks.delete(revokeKey);
  return isRevoked;
}

/** Ends the login that an earlier page has marked. */
export function resumeLogout(core: Core): void {
  core.held.ending = core.marks.get(revokeKey).then((text) => text !== null && revoke(core, text));
}

/** Ends the login, here at once and at Postern as soon as it can be asked. */
export async function logOut(
  core: Core,
  load: (core: Core) => Promise<unknown>,
): Promise<{ readonly revoked: boolean }> {
  const { held, usesBackend } = core;
  core.requireOpen();
  if (!usesBackend) await load(core).catch(() => undefined);
  // Until the backend has answered, somebody may be signed in.
  const ended = JSON.stringify(usesBackend && held.state.current.status === 'starting' ? { token: '' } : held.login);
  // Before anything else, because the page may be closed at once.
  const marked = ended && core.marks.set(revokeKey, ended);
  held.set(undefined, 'logged_out');
  const removed = held.inOrder(async () => {
    await marked;
    // Another tab may have stored a newer token or another login, which this tab does not know yet.
    const [stored] = await Promise.all([
      limited(readLogin(core.appStorage), storageTimeoutMs).catch(() => undefined),
      core.storage.delete(loginKey),
    ]);
    core.tabs.notify('logged_out');
    const other = JSON.stringify(stored);
    if (other === undefined || other === ended) return [];
    held.set(undefined, 'logged_out');
    return [other];
  });
  // A call that replaces the token looks for the mark before and after, so the mark stays until then.
  held.ending = removed.then(async (others) => {
    await untilReplaced(core);
    return revoke(core, ...others, ...(ended ? [ended] : []));
  });
  return { revoked: await held.ending };
}
