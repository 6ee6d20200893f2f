import type { Core } from '../core.js';
import { SignedOutError } from '../errors.js';
import { replacingMark } from '../postern/login-storage.js';
import type { Call } from '../transport.js';

/**
 * Sends a request whose answer has a new token for this login. Until it arrives, no tab asks for a session with the old token, and a
 * logout waits, so that it also ends the new token. With a backend, the answer has no token: it is in the cookie.
 */
export function replaceToken<T extends { readonly token: string }>(core: Core, request: Call): Promise<T> {
  return core.callWith(request, async (call) => {
    const login = core.login();
    await core.renewed();
    await core.marks.set(replacingMark, `${Date.now() + core.timeout}`);
    try {
      // A logout sets its mark and then waits for this one, so that one of the two always sees the other.
      if (login === undefined || (await core.isEnding(login))) throw new SignedOutError();
      const answer = await core.send<T>({ ...call, expects: 'authentication_id' });
      await core.setToken(answer.token, login);
      return answer;
    } finally {
      await core.marks.delete(replacingMark);
      core.notifyTabs('token');
    }
  });
}
