import { type ActivityEntry, createAccount, createDevices, type Device, type Passkey } from '@postern/client';
import { useMemo } from 'react';
import { usePostern } from './context.js';
import { type Definition, type MaySuspend, type Query, type ReadyQuery, type Suspending, useQuery } from './query.js';

const devices: Definition<readonly Device[]> = {
  name: 'devices',
  createRead: (postern) => async () => {
    const all: Device[] = [];
    for await (const device of createDevices(postern).list({ limit: 100 })) all.push(device);
    return all;
  },
  fromSnapshot: (snapshot) => snapshot.devices,
};

/** What can be done with the devices. */
export interface DeviceActions {
  /** Signs a device out, and reads the list again. `current` is the device of this session. */
  readonly remove: (id: string) => Promise<void>;
}

/**
 * The devices on which the user is signed in.
 *
 * @example
 * ```tsx
 * import { useDevices } from '@postern/react';
 *
 * export function Devices() {
 *   const devices = useDevices();
 *   if (devices.status !== 'ready') return <p>{devices.error?.message ?? 'One moment…'}</p>;
 *   return devices.data.map(({ id, model, current }) => (
 *     <p key={id}>
 *       {model ?? 'A device'} {current ? '(this one)' : <button onClick={() => devices.remove(id)}>Sign out</button>}
 *     </p>
 *   ));
 * }
 * ```
 * @throws UsageError without a provider
 */
export function useDevices(options: Suspending): ReadyQuery<readonly Device[]> & DeviceActions;
export function useDevices(options?: MaySuspend): Query<readonly Device[]> & DeviceActions;
export function useDevices(options?: MaySuspend): Query<readonly Device[]> & DeviceActions {
  const { query, source } = useQuery(devices, options);
  const postern = usePostern();
  return useMemo(() => {
    const remove = async (id: string) => {
      await createDevices(postern).remove(id);
      await source().reload();
    };
    return { ...query, remove };
  }, [query, source, postern]);
}

const passkeys: Definition<readonly Passkey[]> = {
  name: 'passkeys',
  createRead: (postern) => () => createAccount(postern).listPasskeys(),
  fromSnapshot: () => undefined,
};

/**
 * The passkeys of the user.
 *
 * @example
 * ```tsx
 * import { usePasskeys } from '@postern/react';
 *
 * export function Passkeys() {
 *   const { data } = usePasskeys();
 *   return data?.map(({ id, name }) => <p key={id}>{name}</p>);
 * }
 * ```
 * @throws UsageError without a provider
 */
export function usePasskeys(): Query<readonly Passkey[]> {
  return useQuery(passkeys).query;
}

/** The entries that were read, and where the next page begins. */
interface Activity {
  readonly entries: readonly ActivityEntry[];
  readonly cursor: string | null;
}

/**
 * What happened to the account, newest first.
 *
 * @example
 * ```tsx
 * import { useActivity } from '@postern/react';
 *
 * export function Activity() {
 *   const { data, hasMore, loadMore } = useActivity({ limit: 10 });
 *   return (
 *     <>
 *       {data?.map(({ id, text, created_at }) => <p key={id}>{created_at}: {text}</p>)}
 *       {hasMore && <button onClick={loadMore}>More</button>}
 *     </>
 *   );
 * }
 * ```
 * @throws UsageError without a provider
 */
export function useActivity({
  limit = 20,
}: {
  readonly limit?: number | undefined;
} = {}): Query<readonly ActivityEntry[]> & { readonly hasMore: boolean; readonly loadMore: () => Promise<void> } {
  const postern = usePostern();
  const pages = useMemo(() => {
    const page = async (shown: readonly ActivityEntry[], at?: { readonly cursor: string }): Promise<Activity> => {
      const { data, page } = await createAccount(postern).activity({ limit }).page(at);
      return { entries: [...shown, ...data], cursor: page.next_cursor };
    };
    const definition: Definition<Activity> = {
      ...{ name: `activity ${limit}`, createRead: () => () => page([]), fromSnapshot: () => undefined },
    };
    return { page, definition };
  }, [postern, limit]);
  const { query, source } = useQuery(pages.definition);
  return useMemo(() => {
    const cursor = query.data?.cursor ?? null;
    const loadMore = async () => {
      if (cursor !== null) await source().load((shown) => pages.page(shown?.entries ?? [], { cursor }));
    };
    const more = { hasMore: cursor !== null, loadMore };
    return query.status === 'ready' ? { ...query, data: query.data.entries, ...more } : { ...query, ...more };
  }, [query, source, pages]);
}
