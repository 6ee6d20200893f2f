import type { AuthState, Postern, SettledAuthState, Snapshot } from '@postern/client';
import { useMemo, useSyncExternalStore } from 'react';
import { useScope } from './context.js';
import type { MaySuspend, Suspending } from './query.js';
import { getOrCreate, missingDataError } from './shared.js';

type Actions = Pick<Postern, 'getSession' | 'logOut'>;

/** Who is signed in, and what can be done about it. */
export type SessionState = AuthState & Actions;
/** As `SessionState`, after the storage was read. */
export type SettledSessionState = SettledAuthState & Actions;

/** The state on a server without a snapshot. */
const starting: AuthState = { status: 'starting' };

function stateOf(snapshot: Snapshot | undefined): AuthState {
  if (snapshot === undefined) return starting;
  if (snapshot.session === null) return { status: 'signed_out', reason: 'never_signed_in' };
  const { user_id, device_id } = snapshot.session;
  return { status: 'signed_in', user_id, device_id };
}

/**
 * Who is signed in. With a snapshot the state is never `starting`. With `suspense`, the component waits while the storage is read.
 *
 * @example
 * ```tsx
 * import { useSession } from '@postern/react';
 *
 * export function Header() {
 *   const session = useSession();
 *   if (session.status === 'starting') return null;
 *   if (session.status !== 'signed_in') return <a href="/sign-in">Sign in</a>;
 *   return <button onClick={session.logOut}>Sign out</button>;
 * }
 * ```
 * @throws UsageError without a provider
 */
export function useSession(options: Suspending): SettledSessionState;
export function useSession(options?: MaySuspend): SessionState;
export function useSession({ suspense = false }: MaySuspend = {}): SessionState {
  const { postern, snapshot } = useScope();
  const source = useMemo(() => {
    const first = stateOf(snapshot);
    return {
      first: () => first,
      // The snapshot holds until the client has read its storage.
      current: () => (postern.current.status === 'starting' && snapshot !== undefined ? first : postern.current),
      subscribe: (listener: () => void) => postern.onChange(listener),
    };
  }, [postern, snapshot]);
  const state = useSyncExternalStore(source.subscribe, source.current, source.first);
  if (suspense && state === starting) throw missingDataError('the session');
  if (suspense && state.status === 'starting') throw getOrCreate(postern, 'session', () => settled(postern));
  return useMemo(() => ({ ...state, getSession: postern.getSession, logOut: postern.logOut }), [postern, state]);
}

/** Resolves when the client knows who is signed in. */
function settled(postern: Postern): Promise<void> {
  return new Promise((resolve) => {
    const unsubscribe = postern.onChange(({ status }) => {
      if (status === 'starting') return;
      unsubscribe();
      resolve();
    });
  });
}
