import type { Abortable } from '@postern/client';
import type { Call } from '@postern/client/internal';
import type { Connection } from '../connection.js';
import type { DeliveryTrace, DryRun, Image, Notification, NotificationChange, NotificationInput } from '../wire.js';
import { type OnceOptions, onceHeader } from './idempotency.js';
import { createPublishAll, type PublishAll } from './publish-all.js';

/** The content of a notification. */
export type NewNotification = Omit<NotificationInput, 'user_id' | 'user_ids'>;
/** One user, or several who get the same notification. */
export type Recipients =
  | { readonly user_id: string; readonly user_ids?: never }
  | { readonly user_ids: readonly string[]; readonly user_id?: never };
export type Publication = NewNotification & Recipients;

/** Publishing notifications, with an API key that has the scope `notifications:write`. */
export interface Publishing {
  /**
   * Publishes a notification to one user, to several, or up to 1000 notifications: all of them or none. A repeat with the same
   * `idempotencyKey` publishes nothing.
   */
  readonly publish: {
    (
      notification: NewNotification & { readonly user_id: string; readonly user_ids?: never },
      options: OnceOptions,
    ): Promise<Notification>;
    (notifications: Publication | readonly Publication[], options: OnceOptions): Promise<readonly Notification[]>;
  };
  /**
   * Publishes any number of notifications. Repeats with the same `idempotencyKey` publish none twice. Results come in the order
   * of the source. A notification that cannot be published does not affect the others. Iterate the result: without an iteration,
   * nothing is sent.
   */
  readonly publishAll: PublishAll;
  /** Returns the users and devices that would get the notifications. Publishes nothing. */
  readonly tryPublish: (notifications: Publication | readonly Publication[], options?: Abortable) => Promise<DryRun>;
  readonly notifications: {
    /** Changes only the members that are present. */
    readonly change: (id: string, change: NotificationChange, options?: Abortable) => Promise<Notification>;
    readonly delete: (id: string, options?: Abortable) => Promise<void>;
    /** Why a notification did or did not arrive on each device. */
    readonly trace: (id: string, options?: Abortable) => Promise<DeliveryTrace>;
  };
  /** Stores an image: a JPEG, PNG, WebP, GIF or AVIF of up to 5 MiB, or the one at a public https URL. */
  readonly uploadImage: (image: Blob | Uint8Array | { readonly url: string }, options: OnceOptions) => Promise<Image>;
}

const notificationsPath = '/admin/v1/notifications';

export function createPublishing(connection: Connection): Publishing {
  const { call } = connection;
  const notificationPath = (id: string) => `${notificationsPath}/${encodeURIComponent(id)}`;

  function publish(
    notification: NewNotification & { readonly user_id: string; readonly user_ids?: never },
    options: OnceOptions,
  ): Promise<Notification>;
  function publish(
    notifications: Publication | readonly Publication[],
    options: OnceOptions,
  ): Promise<readonly Notification[]>;
  async function publish(
    notifications: Publication | readonly Publication[],
    options: OnceOptions,
  ): Promise<Notification | readonly Notification[]> {
    const postCall: Pick<Call, 'method' | 'headers' | 'signal'> = {
      method: 'POST',
      headers: onceHeader(options),
      signal: options.signal,
    };
    if ('user_id' in notifications && notifications.user_id !== undefined) {
      return call<Notification>({ ...postCall, path: notificationsPath, body: notifications });
    }
    return call<readonly Notification[]>({
      ...postCall,
      path: `${notificationsPath}/batch`,
      body: [notifications].flat(),
    });
  }

  return {
    publish,
    publishAll: createPublishAll(connection),
    tryPublish: async (notifications, { signal } = {}) =>
      call<DryRun>({ method: 'POST', path: `${notificationsPath}/dry-run`, body: [notifications].flat(), signal }),
    notifications: {
      change: async (id, change, { signal } = {}) =>
        call<Notification>({ method: 'PATCH', path: notificationPath(id), body: change, signal }),
      delete: async (id, { signal } = {}) => call<void>({ method: 'DELETE', path: notificationPath(id), signal }),
      trace: async (id, { signal } = {}) => call<DeliveryTrace>({ path: `${notificationPath(id)}/deliveries`, signal }),
    },
    async uploadImage(image, options) {
      const form = new FormData();
      if (!('url' in image))
        form.append('file', image instanceof Blob ? image : new Blob([new Uint8Array(image)]), 'image');
      return call<Image>({
        method: 'POST',
        path: '/admin/v1/images',
        headers: onceHeader(options),
        body: 'url' in image ? { url: image.url } : form,
        signal: options.signal,
      });
    },
  };
}
