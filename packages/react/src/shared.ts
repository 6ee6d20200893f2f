import type { Postern, Unsubscribe } from '@postern/client';
import { UsageError } from '@postern/client/internal';

/**
 * What the hooks have created for a client: views, lists, and promises. It is not in components, because React discards the state
 * of a component that suspends before it is shown. On a server, hooks create nothing here: they use only snapshots.
 */
const valuesByClient = /* @__PURE__ */ new WeakMap<Postern, Map<string, unknown>>();
/** The maximum number of values for one client. A page that changes its filter with each key must not keep all the views. */
const maxPerClient = 30;

/** The value with this name for a client. It is created once. */
export function getOrCreate<T>(postern: Postern, name: string, create: () => T): T {
  const values = valuesByClient.get(postern) ?? new Map<string, unknown>();
  valuesByClient.set(postern, values);
  if (!values.has(name)) {
    const [oldest] = values.keys();
    if (values.size >= maxPerClient && oldest !== undefined) values.delete(oldest);
    values.set(name, create());
  }
  return values.get(name) as T;
}

/** The value with this name, if a hook has created it. */
export const findCreated = <T>(postern: Postern, name: string): T | undefined =>
  valuesByClient.get(postern)?.get(name) as T | undefined;

/** Ends a subscription in a microtask. If this component (as in StrictMode) or another one subscribes before that, the stream continues. */
export const unsubscribeLater =
  (unsubscribe: Unsubscribe): Unsubscribe =>
  () =>
    queueMicrotask(unsubscribe);

/**
 * A component that suspends has nothing to show on a server without a snapshot: the browser renders it. With this digest, Next.js
 * reports no error.
 */
export const missingDataError = (what: string) =>
  Object.assign(
    new UsageError(
      `A hook with \`suspense\` waits for ${what}, which a server does not read. Pass it in \`snapshot\` of <PosternProvider>.`,
    ),
    { digest: 'BAILOUT_TO_CLIENT_SIDE_RENDERING' },
  );
