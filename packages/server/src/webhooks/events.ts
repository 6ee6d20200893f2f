import type { Marker, Notification, User, UserDevice, WebhookEventData } from '../wire.js';

/** The types of events, such as `user.created`. A newer service may send other types: handle unknown ones. */
export type WebhookEventType = keyof WebhookEventData;

/** What full payloads also contain. Null: it was deleted. */
type Resources<T extends WebhookEventType> = T extends `${'notification' | 'delivery'}.${string}`
  ? { readonly notification?: Notification | null }
  : T extends 'marker.moved'
    ? { readonly marker?: Marker | null }
    : T extends `${'device' | 'push'}.${string}`
      ? { readonly user?: User | null; readonly device?: UserDevice | null }
      : { readonly user?: User | null };

/** The body of a webhook. Narrow it by `type`. */
export type WebhookEvent<T extends WebhookEventType = WebhookEventType> = T extends WebhookEventType
  ? {
      /** The same in every attempt, so handle each id once. */
      readonly id: string;
      readonly type: T;
      readonly timestamp: string;
      /** The webhook that this delivery is for. */
      readonly endpoint_id: string;
      readonly data: WebhookEventData[T] & Resources<T>;
    }
  : never;
