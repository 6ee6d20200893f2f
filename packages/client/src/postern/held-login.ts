import { isProblem } from '../errors.js';
import { limited } from '../platform.js';
import type { PosternStorage } from '../storage/storage.js';
import { createStore, type MutableStore } from '../store.js';
import type { AuthState, HeldSession, SettledAuthState } from '../types.js';
import { loginKey, readLogin, type SafeStorage, type StoredLogin, storageTimeoutMs } from './login-storage.js';

/** Why nobody is signed in. */
export type SignOutReason = 'never_signed_in' | 'logged_out' | 'ended';

/** The login that this client has, its session, and the work that waits for Postern. */
export interface HeldLogin {
  login?: StoredLogin | undefined;
  /** Whether the storage keeps the login. If it refuses, each tab has a login of its own. */
  isStored: boolean;
  /** Changes with the login and its token, so that an older answer is not used. */
  version: number;
  cached?: { readonly session: HeldSession; readonly isFresh: () => boolean } | undefined;
  /** The start, which finds out who is signed in. Undefined: it has not begun, or it failed. */
  loading?: Promise<void> | undefined;
  /** Whether the start has waited for the storage without success. It does not wait again. */
  hasGivenUp?: boolean;
  /** The request for a session that all callers share. */
  renewing?: Promise<HeldSession | null> | undefined;
  /** Resolves when Postern knows of the last logout, or cannot be asked. */
  ending?: Promise<boolean>;
  readonly state: MutableStore<AuthState>;
  /** Shows a new state to the listeners. @param onDone called before the listeners */
  show(next: SettledAuthState, onDone?: () => void): void;
  /** @param onDone called before the listeners of the client */
  set(next: StoredLogin | undefined, reason: SignOutReason, error?: unknown, onDone?: () => void): void;
  /** Runs changes of the login one after the other, so that the storage and this client agree afterwards. */
  inOrder<T>(change: () => Promise<T>): Promise<T>;
  /** Reads the login from the storage. @param refused a token that Postern has refused. If the storage still has it, it is deleted */
  readAgain(
    reason: SignOutReason,
    refused?: { readonly token: string | undefined; readonly error: unknown },
  ): Promise<void>;
}

export const signedIn = ({ user_id, device_id }: Omit<StoredLogin, 'token'>) =>
  ({ status: 'signed_in', user_id, device_id }) as const;
const userOf = (shown: AuthState) => 'user_id' in shown && shown.user_id;

/** Creates the holder of a client's login. */
export function createHeldLogin(storage: PosternStorage, safe: SafeStorage, openTabs: () => void): HeldLogin {
  /** The number of reads of the storage so far. */
  let reads = 0;
  /** The number of the read that changed the version last. Infinite if something else changed it. */
  let changedBy = 0;
  let lastChange: Promise<unknown> = Promise.resolve();
  const state = createStore<AuthState>({ status: 'starting' });
  const held: HeldLogin = {
    isStored: true,
    version: 0,
    state,
    show(next, onDone) {
      const { current } = state;
      if (current.status === next.status && userOf(current) === userOf(next)) onDone?.();
      else state.set(next, onDone);
    },
    set(next, reason, error, onDone) {
      held.cached = undefined;
      held.login = next;
      held.version += 1;
      changedBy = Infinity;
      held.isStored = true;
      const problem = isProblem(error, 'invalid_dpop_proof') ? error : undefined;
      held.show(next ? signedIn(next) : { status: 'signed_out', reason, ...(problem && { problem }) }, onDone);
    },
    inOrder(change) {
      // Listens to other tabs before the storage changes, so that none of their later changes is missed.
      openTabs();
      const result = lastChange.then(change, change);
      lastChange = result;
      return result;
    },
    async readAgain(reason, refused) {
      const before = held.version;
      reads += 1;
      const number = reads;
      let stored = await limited(readLogin(storage), storageTimeoutMs).catch((error) => {
        throw refused?.error ?? error;
      });
      // Reads may overlap. The result of an earlier read is older.
      if (before !== held.version && changedBy > number) return;
      if (refused !== undefined && (stored === undefined || stored.token === refused.token)) {
        stored = undefined;
        await safe.delete(loginKey);
      } else if (stored === undefined && !held.isStored) return;
      held.set(stored, reason, refused?.error);
      changedBy = number;
    },
  };
  return held;
}
