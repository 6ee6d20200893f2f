import type { Core } from '../core.js';
import type { SettledAuthState } from '../types.js';
import { resumeLogout } from './log-out.js';
import { isRefusal, readWithRetries, storageTimeoutMs } from './login-storage.js';
import { renew } from './renewals.js';

/** Finds out who is signed in, when something first needs the answer. */
export async function load(core: Core): Promise<SettledAuthState> {
  const { held } = core;
  core.requireOpen();
  if (held.state.current.status === 'starting') {
    // A login ends the start, too.
    const settled = new Promise<void>((resolve) => held.state.onChange(() => resolve()));
    held.loading ??= Promise.race([start(core), settled]).catch((error) => {
      held.loading = undefined;
      const end = core.onResume(() => {
        end();
        remove();
        void load(core).catch(() => undefined);
      });
      const remove = core.onClose(end);
      throw error;
    });
    await held.loading;
  }
  return held.state.current as SettledAuthState;
}

async function start(core: Core): Promise<void> {
  core.tabs.open();
  if (!core.usesBackend) await readStorage(core);
  resumeLogout(core);
  // Only the backend knows who is signed in, by its cookie.
  if (core.usesBackend) await renew(core);
}

/** Without a storage that can be read, the client has no login. A later start may read it. */
async function readStorage(core: Core): Promise<void> {
  const { held } = core;
  try {
    await readWithRetries(() => held.readAgain('never_signed_in'), held.hasGivenUp ? 0 : storageTimeoutMs, core);
  } catch (error) {
    if (!held.hasGivenUp) core.onError(error);
    held.hasGivenUp = true;
    if (!isRefusal(error)) throw error;
    held.set(undefined, 'never_signed_in');
  }
}
