import type { Core } from '../core.js';
import { replacingMark } from '../postern/login-storage.js';
import type { Call } from '../transport.js';

/** Sends a request whose answer has a new token for this login. Until it arrives, no tab asks for a session with the old token. */
export function replaceToken<T extends { readonly token: string }>(core: Core, request: Call): Promise<T> {
  return core.callWith(request, async (call) => {
    await core.renewed();
    await core.marks.set(replacingMark, `${Date.now() + core.timeout}`);
    try {
      const answer = await core.send<T>({ ...call, expects: 'token' });
      await core.setToken(answer.token);
      return answer;
    } finally {
      await core.marks.delete(replacingMark);
      core.notifyTabs('token');
    }
  });
}
