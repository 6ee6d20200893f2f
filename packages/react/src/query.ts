import type { Postern, PosternError, Snapshot, Unsubscribe } from '@postern/client';
import { useMemo, useSyncExternalStore } from 'react';
import { useScope } from './context.js';
import { getOrCreate, missingDataError, unsubscribeLater } from './shared.js';

interface Refetch {
  /** Requests the data again. The old data stays until the new data arrives. */
  readonly refetch: () => void;
}

/** Data, and the state of its request. If a later request fails, the data stays. */
export type Query<T> = Refetch &
  (
    | { readonly status: 'pending'; readonly data: null; readonly error: null }
    | { readonly status: 'error'; readonly data: null; readonly error: PosternError }
    /** `error`: why the last refresh failed. */
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

/** Data of the signed-in user. Components share it. */
export interface Source<T> {
  /** What is shown now. */
  current(): Query<T>;
  /** Reads for the first listener, and for each user who signs in. */
  subscribe(listener: () => void): Unsubscribe;
  /** Reads the data, unless a request is running. Never rejects. @param readData replaces the default request */
  load(readData?: (data: T | null) => Promise<T>): Promise<void>;
  /**
   * Reads the data after a change. It first waits for running requests, because these may return older data.
   * @param readData replaces the default request
   */
  reload(readData?: (data: T | null) => Promise<T>): Promise<void>;
}

/** @param initial the data of a snapshot, and its user */
function createSource<T>(
  postern: Postern,
  read: () => Promise<T>,
  initial?: { readonly data: T; readonly user: string },
): Source<T> {
  const listeners = new Set<() => void>();
  const reload: Source<T>['reload'] = async (readData) => {
    while (currentRequest !== undefined) await currentRequest;
    await load(readData);
  };
  const refetch = () => void reload();
  const pending: Query<T> = { status: 'pending', data: null, error: null, refetch };
  let shown: Query<T> = initial === undefined ? pending : { status: 'ready', data: initial.data, error: null, refetch };
  /** The user of the data. Null: nobody was signed in. Undefined: nothing was read yet. */
  let owner: string | null | undefined = initial?.user;
  let isFresh = initial !== undefined;
  let currentRequest: Promise<void> | undefined;
  let unsubscribe = () => {};

  function forgetFormerUser(): void {
    const { current } = postern;
    if (current.status === 'starting') return;
    const user = current.status === 'signed_in' ? current.user_id : null;
    const isOtherUser = owner !== undefined && owner !== user;
    owner = user;
    if (!isOtherUser) return;
    currentRequest = undefined;
    isFresh = false;
    shown = pending;
  }
  function show(next: Query<T>): void {
    shown = next;
    for (const listener of listeners) listener();
  }

  function load(readData: (data: T | null) => Promise<T> = read): Promise<void> {
    if (currentRequest !== undefined) return currentRequest;
    const request: Promise<void> = readData(shown.data)
      .then(
        (data): Query<T> => ({ status: 'ready', data, error: null, refetch }),
        (error: PosternError): Query<T> =>
          shown.status === 'ready' ? { ...shown, error } : { status: 'error', data: null, error, refetch },
      )
      .then((next) => {
        forgetFormerUser();
        // Another user has signed in.
        if (currentRequest !== request) return;
        currentRequest = undefined;
        isFresh = listeners.size === 0;
        show(next);
      });
    currentRequest = request;
    return request;
  }

  return {
    current() {
      forgetFormerUser();
      return shown;
    },
    subscribe(listener) {
      const handler = () => listener();
      if (listeners.size === 0) {
        unsubscribe = postern.onChange(() => {
          forgetFormerUser();
          if (shown !== pending || currentRequest !== undefined) return;
          show(pending);
          void load();
        });
        forgetFormerUser();
        if (!isFresh) void load();
        isFresh = false;
      }
      listeners.add(handler);
      return () => {
        if (listeners.delete(handler) && listeners.size === 0) unsubscribe();
      };
    },
    ...{ load, reload },
  };
}

/** Data that hooks can show. */
export interface Definition<T> {
  /** Unique, because hooks share a source by its name. */
  readonly name: string;
  readonly createRead: (postern: Postern) => () => Promise<T>;
  /** This data in a snapshot. */
  readonly fromSnapshot: (snapshot: Snapshot) => T | undefined;
}

/**
 * Shows data, and gives its source for changes.
 *
 * @throws UsageError without a provider; with `suspense` also on a server without this data in the snapshot
 * @throws PosternError with `suspense`, for an error boundary
 */
export function useQuery<T>(definition: Definition<T>, { suspense = false }: MaySuspend = {}) {
  const { postern, snapshot } = useScope();
  const store = useMemo(() => {
    const { name, createRead, fromSnapshot } = definition;
    const data = snapshot && fromSnapshot(snapshot);
    const initial = data !== undefined && snapshot?.session ? { data, user: snapshot.session.user_id } : undefined;
    const source = () => getOrCreate(postern, name, () => createSource(postern, createRead(postern), initial));
    const rest = { error: null, refetch: () => void source().reload() };
    const first: Query<T> =
      initial === undefined
        ? { status: 'pending', data: null, ...rest }
        : { status: 'ready', data: initial.data, ...rest };
    return {
      ...{ source, first: () => first, current: () => source().current() },
      subscribe: (listener: () => void) => unsubscribeLater(source().subscribe(listener)),
    };
  }, [postern, snapshot, definition]);
  const query = useSyncExternalStore(store.subscribe, store.current, store.first);
  if (suspense && query.status === 'error') throw query.error;
  if (suspense && query.status === 'pending') {
    throw query === store.first() ? missingDataError(definition.name) : store.source().load();
  }
  return { query, source: store.source };
}
