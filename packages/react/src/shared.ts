import type { Postern, Unsubscribe } from '@postern/client';
import { UsageError } from '@postern/client/internal';

/**
 * What the hooks have made for a client: views, lists, what they wait for. React discards the state of components that suspend
 * before they are shown, so it cannot be there. On a server nothing is made: there the hooks use snapshots only.
 */
const made = /* @__PURE__ */ new WeakMap<Postern, Map<string, unknown>>();
/** Of one client. Pages that change their filter with each key stroke must not keep the views of all of them. */
const mostMade = 30;

/** The thing of this name for a client. It is made once. */
export function shared<T>(postern: Postern, name: string, make: () => T): T {
  const own = made.get(postern) ?? new Map<string, unknown>();
  made.set(postern, own);
  if (!own.has(name)) {
    const [oldest] = own.keys();
    if (own.size >= mostMade && oldest !== undefined) own.delete(oldest);
    own.set(name, make());
  }
  return own.get(name) as T;
}

/** The thing of this name, if a hook has made it. */
export const found = <T>(postern: Postern, name: string): T | undefined =>
  made.get(postern)?.get(name) as T | undefined;

/**
 * Ends a subscription after the current work. If a component subscribes again until then, as in StrictMode, or another one in its
 * place, a stream goes on.
 */
export const later =
  (end: Unsubscribe): Unsubscribe =>
  () =>
    queueMicrotask(end);

/** A component that suspends has nothing to show on a server without a snapshot: the browser renders it. */
export const missing = (what: string) =>
  new UsageError(
    `A hook with \`suspense\` waits for ${what}, which a server does not read. Pass it in \`snapshot\` of <PosternProvider>.`,
  );
