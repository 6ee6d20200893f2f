import type { Postern, PosternError, Snapshot, Unsubscribe } from '@postern/client';
import { useMemo, useSyncExternalStore } from 'react';
import { useScope } from './context.js';
import { later, missing, shared } from './shared.js';

interface Refetch {
  /** Reads again. What was read stays until then. */
  readonly refetch: () => void;
}

/** What was read. A later failure keeps the data. */
export type Query<T> = Refetch &
  (
    | { readonly status: 'pending'; readonly data: null; readonly error: null }
    | { readonly status: 'error'; readonly data: null; readonly error: PosternError }
    /** `error`: why it could not be refreshed. */
    | { readonly status: 'ready'; readonly data: T; readonly error: PosternError | null }
  );
export type ReadyQuery<T> = Extract<Query<T>, { readonly status: 'ready' }>;

export interface MaySuspend {
  /** Whether the component waits for the data. False by default. */
  readonly suspense?: boolean | undefined;
}
export interface Suspending extends MaySuspend {
  readonly suspense: true;
}

/** Data of the user who is signed in, which components share. */
export interface Source<T> {
  /** What is shown now. */
  current(): Query<T>;
  /** Reads for the first listener, and for each user who signs in. */
  subscribe(listener: () => void): Unsubscribe;
  /** Reads, if nothing is being read. Never rejects. @param how instead of the usual way */
  load(how?: (data: T | null) => Promise<T>): Promise<void>;
  /** Reads after a change: what is being read may be older. */
  reload(): Promise<void>;
}

/** @param known what a snapshot has, with its user */
function createSource<T>(
  postern: Postern,
  read: () => Promise<T>,
  known?: { readonly data: T; readonly user: string },
): Source<T> {
  const listeners = new Set<() => void>();
  const reload = async () => {
    await running;
    await load();
  };
  const refetch = () => void reload();
  const pending: Query<T> = { status: 'pending', data: null, error: null, refetch };
  let shown: Query<T> = known === undefined ? pending : { status: 'ready', data: known.data, error: null, refetch };
  /** Whose data it is. Null: nobody was signed in. Undefined: nothing was read yet. */
  let owner: string | null | undefined = known?.user;
  let isFresh = known !== undefined;
  let running: Promise<void> | undefined;
  let unfollow = () => {};

  function forgetFormer(): void {
    const { current } = postern;
    if (current.status === 'starting') return;
    const user = current.status === 'signed_in' ? current.user_id : null;
    const isOther = owner !== undefined && owner !== user;
    owner = user;
    if (!isOther) return;
    running = undefined;
    isFresh = false;
    shown = pending;
  }
  function show(next: Query<T>): void {
    shown = next;
    for (const listener of listeners) listener();
  }

  function load(how: (data: T | null) => Promise<T> = read): Promise<void> {
    if (running !== undefined) return running;
    const own: Promise<void> = how(shown.data)
      .then(
        (data): Query<T> => ({ status: 'ready', data, error: null, refetch }),
        (error: PosternError): Query<T> =>
          shown.status === 'ready' ? { ...shown, error } : { status: 'error', data: null, error, refetch },
      )
      .then((next) => {
        forgetFormer();
        // Another user has signed in.
        if (running !== own) return;
        running = undefined;
        isFresh = listeners.size === 0;
        show(next);
      });
    running = own;
    return own;
  }

  return {
    current() {
      forgetFormer();
      return shown;
    },
    subscribe(listener) {
      const own = () => listener();
      if (listeners.size === 0) {
        unfollow = postern.onChange(() => {
          forgetFormer();
          if (shown !== pending || running !== undefined) return;
          show(pending);
          void load();
        });
        forgetFormer();
        if (!isFresh) void load();
        isFresh = false;
      }
      listeners.add(own);
      return () => {
        if (listeners.delete(own) && listeners.size === 0) unfollow();
      };
    },
    ...{ load, reload },
  };
}

/** What hooks can show. */
export interface Definition<T> {
  /** Different for each definition, because sources are shared by it. */
  readonly name: string;
  readonly reader: (postern: Postern) => () => Promise<T>;
  /** What a snapshot has of it. */
  readonly known: (snapshot: Snapshot) => T | undefined;
}

/**
 * Shows data, and gives its source for changes.
 *
 * @throws UsageError without a provider; with `suspense` also on a server without this data in the snapshot
 * @throws PosternError with `suspense`, for an error boundary
 */
export function useQuery<T>(definition: Definition<T>, { suspense = false }: MaySuspend = {}) {
  const { postern, snapshot } = useScope();
  const made = useMemo(() => {
    const { name, reader, known } = definition;
    const data = snapshot && known(snapshot);
    const seen = data !== undefined && snapshot?.session ? { data, user: snapshot.session.user_id } : undefined;
    const source = () => shared(postern, name, () => createSource(postern, reader(postern), seen));
    const rest = { error: null, refetch: () => void source().reload() };
    const first: Query<T> =
      seen === undefined ? { status: 'pending', data: null, ...rest } : { status: 'ready', data: seen.data, ...rest };
    return {
      ...{ source, first: () => first, current: () => source().current() },
      subscribe: (listener: () => void) => later(source().subscribe(listener)),
    };
  }, [postern, snapshot, definition]);
  const query = useSyncExternalStore(made.subscribe, made.current, made.first);
  if (suspense && query.status === 'error') throw query.error;
  if (suspense && query.status === 'pending') {
    throw query === made.first() ? missing(definition.name) : made.source().load();
  }
  return { query, source: made.source };
}
