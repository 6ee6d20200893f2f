import type { Core, StoredLogin } from '../core.js';
import { SignedOutError } from '../errors.js';
import { loginKey, replacingMark, revokeKey, writeLogin } from '../postern/login-storage.js';
import type { Call } from '../transport.js';

/**
 * Sends a request whose answer has a new token for this login. Until it arrives, no tab asks for a session with the old token, and a
 * logout waits, so that it also ends the new token. With a backend, the answer has no token: it is in the cookie.
 */
export function replaceToken<T extends { readonly token: string }>(core: Core, request: Call): Promise<T> {
  return core.callWith(request, async (call) => {
    const { login } = core.held;
    await core.held.renewing?.catch(() => undefined);
    await core.marks.set(replacingMark, `${Date.now() + core.timeout}`);
    try {
      // A logout sets its mark and then waits for this mark. So either the logout or this call notices the other one.
      if (login === undefined || (await isEnding(core, login))) throw new SignedOutError();
      const answer = await core.send<T>({ ...call, expects: 'authentication_id' });
      await setToken(core, answer.token, login);
      return answer;
    } finally {
      await core.marks.delete(replacingMark);
      core.tabs.notify('token');
    }
  });
}

/** The login continues with another token. Without that login, the token is revoked. */
async function setToken(core: Core, token: string, former: StoredLogin): Promise<void> {
  const { held, storage, usesBackend } = core;
  held.version += 1;
  if (usesBackend) return;
  await held.inOrder(async () => {
    const next = { ...former, token };
    // Otherwise, the user has logged out since the call began, or another user has logged in.
    if (held.login?.token === former.token) {
      held.login = next;
      held.isStored = await writeLogin(storage, next);
      if (!(await isEnding(core, former))) return;
      await storage.delete(loginKey);
      held.set(undefined, 'logged_out');
    }
    void core.tokens.revoke(JSON.stringify(next));
  });
}

/** Whether a logout of this login waits until Postern knows of it, here or in another tab. */
const isEnding = async ({ marks }: Core, { token }: StoredLogin): Promise<boolean> =>
  JSON.parse((await marks.get(revokeKey)) ?? '{}').token === token;
