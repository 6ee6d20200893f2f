import { type Core, coreOf } from './core.js';
import { isProblem } from './errors.js';
import type { Abortable } from './platform.js';
import type { Postern } from './types.js';
import type { MergedGuest } from './wire.js';

/** Where the guest of this browser is stored. */
const guestKey = 'postern.guest';

/** A guest, as the storage keeps it until a merge. */
interface StoredGuest {
  readonly user_id: string;
  /** Absent if a backend keeps it. */
  readonly token?: string | undefined;
}

/** Remembers that a guest has signed in. */
export async function rememberGuest({ marks }: Core, guest: StoredGuest): Promise<void> {
  await marks.set(guestKey, JSON.stringify(guest));
}

async function storedGuest({ marks }: Core): Promise<StoredGuest | null> {
  const guest: StoredGuest | null = JSON.parse((await marks.get(guestKey)) ?? 'null');
  return guest;
}

/** Whether the user who is signed in is a guest. It asks the service only if this browser remembers a guest. */
export async function isGuest(postern: Postern, { signal }: Abortable = {}): Promise<boolean> {
  const core = coreOf(postern);
  const guest = await storedGuest(core);
  if (guest === null) return false;
  const state = await postern.ready();
  if (state.status !== 'signed_in' || state.user_id !== guest.user_id) return false;
  return (await core.call<{ readonly is_guest: boolean }>({ path: '/v1/account', signal })).is_guest;
}

/**
 * Moves what a guest of this browser has, such as notifications, into the account that is signed in now, and deletes the guest. Call it
 * after a login. Null if this browser has no guest to merge, or the guest has become a user.
 *
 * @example
 * ```ts
 * import { createLogin, mergeGuest, type Postern } from '@postern/client';
 * declare const postern: Postern;
 *
 * const login = createLogin(postern);
 * await login.start().guest();
 * // Later, the person logs in to an account:
 * const { step } = await login.start().password({ identity: 'ada', password: 'the moon and back again' });
 * if (step === 'done') console.log(await mergeGuest(postern));
 * ```
 */
export async function mergeGuest(postern: Postern, { signal }: Abortable = {}): Promise<MergedGuest | null> {
  const core = coreOf(postern);
  const guest = await storedGuest(core);
  const state = await postern.ready();
  if (guest === null || state.status !== 'signed_in' || state.user_id === guest.user_id) return null;
  let merged: MergedGuest | null = null;
  try {
    const { token } = guest;
    const body = token ? { token } : {};
    merged = await core.call<MergedGuest>({ method: 'PUT', path: '/v1/account/guest', body, signal, expects: 'id' });
  } catch (error) {
    if (!isProblem(error, 'guest_rejected')) throw error;
  }
  await core.marks.delete(guestKey);
  return merged;
}
