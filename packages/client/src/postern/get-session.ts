import type { Core } from '../core.js';
import { type Abortable, forCaller, throwIfAborted } from '../platform.js';
import type { HeldSession } from '../types.js';
import { renew } from './renewals.js';
import { load } from './start.js';

/** A session of the user. Calls at the same time share one request. Null: nobody is signed in. */
export async function getSession(
  core: Core,
  { signal, fresh = false }: Abortable & { readonly fresh?: boolean | undefined } = {},
): Promise<HeldSession | null> {
  const { held } = core;
  throwIfAborted(signal);
  await forCaller(load(core), signal);
  // With a backend, only a request shows whether somebody has logged in without this client.
  if (held.login === undefined && !(fresh && core.usesBackend)) return null;
  if (!fresh && held.cached?.isFresh()) return held.cached.session;
  held.renewing ??= renew(core).finally(() => {
    held.renewing = undefined;
  });
  return forCaller(held.renewing, signal);
}
