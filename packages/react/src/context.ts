import type { InboxOptions, Postern, Snapshot } from '@postern/client';
import { coreOf, startSignedOut, UsageError } from '@postern/client/internal';
import { createContext, createElement, type ReactNode, useContext, useEffect, useMemo } from 'react';

export interface PosternProviderProps {
  /** Create it once, outside of components. On a server it holds no data of a user. */
  readonly postern: Postern;
  /** The data with which the server rendered this page, for the first rendering. Only the components below see it. */
  readonly snapshot?: Snapshot | undefined;
  /** How the inbox of this client connects. The first provider of a client decides. */
  readonly inbox?: InboxOptions | undefined;
  readonly children?: ReactNode;
}

export type Scope = Omit<PosternProviderProps, 'children'>;

export const ScopeContext = /* @__PURE__ */ createContext<Scope | undefined>(undefined);

/**
 * Gives a client to the hooks below it.
 *
 * @example
 * ```tsx
 * import { createPostern } from '@postern/client';
 * import { PosternProvider, useSession } from '@postern/react';
 *
 * const postern = createPostern({ url: '/auth', storage: 'backend' });
 *
 * export const App = () => (
 *   <PosternProvider postern={postern}>
 *     <Greeting />
 *   </PosternProvider>
 * );
 * const Greeting = () => <p>{useSession().status === 'signed_in' ? 'Welcome back' : 'Hello'}</p>;
 * ```
 * @throws UsageError if the argument is not a client
 */
export function PosternProvider({ postern, snapshot, inbox, children }: PosternProviderProps): ReactNode {
  if (typeof postern?.getSession !== 'function') {
    throw new UsageError('<PosternProvider> needs `postern`: a client that createPostern made.');
  }
  const scope = useMemo(() => {
    // Before a hook below asks.
    if (snapshot?.session === null) startSignedOut(coreOf(postern));
    return { postern, snapshot, inbox };
  }, [postern, snapshot, inbox]);
  // The server may have signed somebody in or out since this client has asked, such as in an action of a form.
  useEffect(() => {
    const { current } = postern;
    if (snapshot === undefined || current.status === 'starting') return;
    const user = 'user_id' in current ? current.user_id : undefined;
    if (user !== snapshot.session?.user_id) postern.getSession({ fresh: true }).catch(() => undefined);
  }, [postern, snapshot]);
  return createElement(ScopeContext.Provider, { value: scope }, children);
}

export function useScope(): Scope {
  const scope = useContext(ScopeContext);
  if (scope === undefined) throw new UsageError('This hook needs a <PosternProvider> above its component.');
  return scope;
}

/**
 * The client of the nearest provider, such as for `postern.fetch`.
 *
 * @example
 * ```tsx
 * import { usePostern } from '@postern/react';
 *
 * export function Pay({ id }: { readonly id: string }) {
 *   const postern = usePostern();
 *   return <button onClick={() => postern.fetch(`/api/bills/${id}/pay`, { method: 'POST' })}>Pay</button>;
 * }
 * ```
 * @throws UsageError without a provider
 */
export function usePostern(): Postern {
  return useScope().postern;
}
