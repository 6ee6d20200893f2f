import { coreOf } from './core.js';
import { isProblem, UnsupportedError } from './errors.js';
import { type Abortable, throwIfAborted } from './platform.js';
import type { NotificationType } from './registered.js';
import type { Postern } from './types.js';
import type { DeviceToken, PushKey } from './wire.js';

/**
 * Registers a token of APNs or FCM for this device. Call it each time the system issues a new token.
 *
 * @example
 * ```ts
 * import { type Postern, registerPush } from '@postern/client';
 * declare const postern: Postern;
 *
 * const { enabled } = await registerPush(postern, { type: 'android', token: 'bk3RNwTe3H0:CI2k_HHwgIpoDKCIZvvDMExUdFQ3P1' });
 * if (!enabled) console.log('The operator has not configured FCM.');
 * ```
 */
export function registerPush(
  postern: Postern,
  token: { readonly type: 'ios' | 'android'; readonly token: string },
  { signal }: Abortable = {},
): Promise<DeviceToken> {
  return coreOf(postern).call({ method: 'POST', path: '/v1/devices/tokens', body: token, signal });
}

/** The part of a `ServiceWorkerRegistration` that is used, so that the types need no DOM. */
export interface WebPushWorker {
  readonly pushManager: {
    subscribe(options: { userVisibleOnly: boolean; applicationServerKey: string }): Promise<{ toJSON(): object }>;
    getSubscription?(): Promise<{ unsubscribe(): Promise<boolean> } | null>;
  };
}

/**
 * Subscribes this browser to Web Push and registers it. Call it from a click, because the browser asks the user. Null: the operator
 * has not configured Web Push, or the user refused. Rejects with an error of the kind `unsupported` if the browser has no push
 * service. If the operator has changed the key, the browser subscribes again with the new one.
 *
 * @example
 * ```ts
 * import { enableWebPush, type Postern, type WebPushWorker } from '@postern/client';
 * declare const postern: Postern;
 * declare const serviceWorker: WebPushWorker; // await navigator.serviceWorker.ready
 *
 * const registered = await enableWebPush(postern, serviceWorker);
 * console.log(registered === null ? 'No push here.' : 'You get notifications.');
 * ```
 */
export async function enableWebPush(
  postern: Postern,
  { pushManager }: WebPushWorker,
  { signal }: Abortable = {},
): Promise<DeviceToken | null> {
  const core = coreOf(postern);
  try {
    const { public_key } = await core.send<PushKey>({ path: '/v1/push/key', signal, expects: 'public_key' });
    const subscribe = () => pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: public_key });
    // Safari has no push manager in a page that is not on the home screen.
    if (pushManager === undefined) throw new UnsupportedError('Web Push');
    const token = await subscribe().catch(async (error: unknown) => {
      // A browser keeps one subscription, which may be for an earlier key of the operator.
      if (nameOf(error) !== 'InvalidStateError') throw error;
      await (await pushManager.getSubscription?.())?.unsubscribe();
      return subscribe();
    });
    return await core.call({ method: 'POST', path: '/v1/devices/tokens', body: { type: 'web', token }, signal });
  } catch (error) {
    throwIfAborted(signal);
    if (isProblem(error, 'not_found') || nameOf(error) === 'NotAllowedError') return null;
    // The errors of browsers without a push service, or without a connection to it.
    if (['AbortError', 'NotSupportedError'].includes(nameOf(error))) throw new UnsupportedError('push service');
    throw error;
  }
}

const nameOf = (error: unknown) => `${(error as { readonly name?: unknown } | null)?.name}`;

/** A push of Postern, as a service worker gets it. */
export interface PushMessage {
  readonly id: string;
  /** The tag to show it with: it replaces an earlier push with the same tag. The `id`, unless the notification has a `replace_key`. */
  readonly tag: string;
  readonly notification_type: NotificationType;
  readonly notification_key: string | null;
  readonly sequence: number | null;
  /** The actor of the notification. Null if it has none. */
  readonly title: string | null;
  readonly body: string;
}

/**
 * Reads the data of a push event in a service worker. Null if it is not from Postern.
 *
 * @example
 * ```ts
 * import { parsePush } from '@postern/client';
 *
 * export const textOf = (event: { data: { text(): string } | null }) => {
 *   const push = parsePush(event.data);
 *   return push && { title: push.title ?? 'News', body: push.body, tag: push.tag };
 * };
 * ```
 */
export function parsePush(data: { text(): string } | null): PushMessage | null {
  try {
    const message = JSON.parse(data?.text() ?? '');
    const isPush = [message.id, message.notification_type, message.body].every((member) => typeof member === 'string');
    return isPush ? { notification_key: null, sequence: null, title: null, tag: message.id, ...message } : null;
  } catch {
    return null;
  }
}
