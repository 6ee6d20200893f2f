import type { EventType } from '../audit/events.js';
import { type WebhookEventType, webhookEventTypes } from '../contract/webhooks.js';
import type { FilterFields } from '../lib/filter/fields.js';

/** Something that happened, as the statement that caused it has recorded it. */
export interface Cause {
  /** The type of an audit event, or of an event without an audit event. */
  readonly type: string;
  readonly actor: string | null;
  /** All zeros: it concerns no user. */
  readonly userId: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** RFC 3339. */
  readonly createdAt: string;
  /** The request that caused it, if it was traced. */
  readonly traceparent?: string | null | undefined;
}

/** The values of an event besides its user, sequence and time. Only ids and names: no personal data, no secrets. */
export type EventData = Readonly<Record<string, unknown>>;

export interface CatalogueEvent {
  readonly type: WebhookEventType;
  readonly data: EventData;
}

type Describe = (cause: Cause) => CatalogueEvent;

/** Copies members of the cause's data; null where there is none. */
const taking =
  (type: WebhookEventType, ...members: readonly string[]): Describe =>
  ({ data }) => ({ type, data: Object.fromEntries(members.map((name) => [name, data[name] ?? null])) });

const credential =
  (name: string, change: 'changed' | 'added' | 'removed'): Describe =>
  () => ({ type: 'credential.changed', data: { credential: name, change } });

const login = ['authentication_id', 'device_id', 'authenticator', 'second_factor'];
/** A login that was refused, with the reason. */
const rejected =
  (reason: 'rejected' | 'locked'): Describe =>
  (cause) => {
    const { data } = taking('login.rejected', ...login)(cause);
    return { type: 'login.rejected', data: { ...data, reason } };
  };
const delivery = ['delivery_id', 'notification_id', 'channel', 'device_id', 'category', 'reason'];

/** Which events each recorded type causes. */
const causes: Partial<Record<EventType | WebhookEventType, Describe>> = {
  'user.created': taking('user.created'),
  'user.changed': ({ data }) => ({ type: 'user.updated', data: { changed_fields: namesIn(data.fields) } }),
  'user.reactivated': () => ({ type: 'user.updated', data: { changed_fields: ['status'] } }),
  'user.deleted': taking('user.deleted'),
  'user.locked': taking('user.locked'),
  'user.unlocked': taking('user.unlocked'),
  'user.deactivated': taking('user.deactivated'),
  'user.password_changed': credential('password', 'changed'),
  'user.pin_changed': credential('pin', 'changed'),
  'totp.enrolled': credential('totp', 'added'),
  'totp.removed': credential('totp', 'removed'),
  'passkey.enrolled': credential('passkey', 'added'),
  'passkey.removed': credential('passkey', 'removed'),
  'recovery_codes.made': credential('recovery_codes', 'changed'),
  'second_factors.removed': credential('second_factors', 'removed'),
  'external_identity.linked': credential('external_identity', 'added'),
  'external_identity.unlinked': credential('external_identity', 'removed'),
  'identity.verified': ({ data }) => ({ type: 'identity.verified', data: { identity_type: data.field ?? null } }),
  'login.approved': taking('login.approved', ...login),
  'login.rejected': rejected('rejected'),
  'login.refused_locked': rejected('locked'),
  'account.locked_by_guesses': taking('login.locked', 'device_id'),
  'device.added': taking('device.added', 'device_id'),
  'device.removed': taking('device.removed', 'device_id'),
  'token.ended': taking('token.ended', 'authentication_id', 'device_id'),
  'recovery.completed': taking('recovery.completed', 'recovers'),
  'registration.completed': taking('registration.completed'),
  'guest.merged': taking('guest.merged', 'guest_id'),
  'notification.created': taking('notification.created', 'notification_id', 'notification_sequence'),
  'notification.updated': ({ data }) => ({
    type: 'notification.updated',
    data: {
      notification_id: data.notification_id ?? null,
      notification_sequence: data.notification_sequence ?? null,
      changed_fields: namesIn(data.fields),
    },
  }),
  'notification.deleted': taking('notification.deleted', 'notification_id', 'notification_sequence'),
  'notification.state_changed': taking(
    'notification.state_changed',
    ...['notification_ids', 'through', 'read', 'archived', 'snoozed_until'],
  ),
  'notification.action': taking('notification.action', 'notification_id', 'notification_sequence', 'action'),
  'marker.moved': taking('marker.moved', 'last_read_sequence'),
  'delivery.sent': taking('delivery.sent', ...delivery),
  'delivery.delivered': taking('delivery.delivered', ...delivery),
  'delivery.bounced': taking('delivery.bounced', ...delivery),
  'delivery.complained': taking('delivery.complained', ...delivery),
  'delivery.failed': taking('delivery.failed', ...delivery),
  'delivery.expired': taking('delivery.expired', ...delivery),
  'preference.changed': ({ data }) => ({ type: 'preference.changed', data: { changed_fields: namesIn(data.fields) } }),
  'topic.created': taking('topic.created', 'topic'),
  'topic.changed': taking('topic.updated', 'topic'),
  'topic.deleted': taking('topic.deleted', 'topic'),
  'topic.subscribed': taking('topic.subscribed', 'topic'),
  'topic.unsubscribed': taking('topic.unsubscribed', 'topic'),
  'publication.started': taking('publication.started', 'publication_id'),
  'publication.paused': taking('publication.paused', 'publication_id'),
  'publication.resumed': taking('publication.resumed', 'publication_id'),
  'publication.done': taking('publication.done', 'publication_id'),
  'publication.cancelled': taking('publication.cancelled', 'publication_id'),
  'publication.failed': taking('publication.failed', 'publication_id'),
  'publication.recalled': taking('publication.recalled', 'publication_id'),
  'suppression.created': taking('suppression.created', 'suppression_id', 'reason'),
  'suppression.deleted': taking('suppression.deleted', 'suppression_id', 'reason'),
  'message.failed': taking('message.failed', 'message_id', 'kind'),
  'message.expired': taking('message.failed', 'message_id', 'kind'),
  'message.undelivered': taking('message.failed', 'message_id', 'kind'),
  'push.token_gone': taking('push.token_gone', 'device_id', 'channel'),
  'audit.sealed': taking('audit.sealed', 'day', 'events', 'hash'),
};

const namesIn = (names: unknown): string[] => (Array.isArray(names) ? names.map(publicName) : []);

/** Columns have other names than the members of the API. */
const publicName = (column: unknown): string => {
  const name = String(column);
  return name === 'image_id' ? 'image' : name;
};

/** Converts a recorded cause into the event that endpoints get. Undefined for a type that the catalogue does not contain. */
export function eventOf(cause: Cause): CatalogueEvent | undefined {
  const isKnown = (type: string): type is keyof typeof causes => Object.hasOwn(causes, type);
  if (!isKnown(cause.type)) return undefined;
  const event = causes[cause.type]?.(cause);
  return event && { type: event.type, data: { changed_fields: [], ...event.data, actor: cause.actor } };
}

/** Whether a pattern of an endpoint, such as `login.*`, includes a type. */
export function includesType(pattern: string, type: string): boolean {
  return pattern === '*' || pattern === type || (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1)));
}

/** Whether a pattern includes any type of the catalogue. */
export const isPattern = (pattern: string): boolean => webhookEventTypes.some((type) => includesType(pattern, type));

/** Whether these patterns include events of inboxes, which each publication must record. */
export const hasInboxEvents = (patterns: readonly string[]): boolean =>
  webhookEventTypes.some(
    (type) =>
      /^(notification\.|marker\.|topic\.(un)?subscribed$)/.test(type) &&
      patterns.some((pattern) => includesType(pattern, type)),
  );

/** The fields of the filter of an endpoint. */
export const webhookFilterFields: FilterFields = {
  type: { kind: 'enum', values: webhookEventTypes },
  user_id: { kind: 'id' },
  actor: { kind: 'key' },
  created_at: { kind: 'time' },
  authentication_id: { kind: 'id' },
  device_id: { kind: 'id' },
  authenticator: { kind: 'key' },
  reason: { kind: 'key' },
  credential: { kind: 'key' },
  change: { kind: 'key' },
  identity_type: { kind: 'key' },
  recovers: { kind: 'key' },
  notification_id: { kind: 'id' },
  message_id: { kind: 'id' },
  kind: { kind: 'key' },
  channel: { kind: 'key' },
  topic: { kind: 'key' },
  publication_id: { kind: 'id' },
  action: { kind: 'key' },
  delivery_id: { kind: 'id' },
  category: { kind: 'key' },
  suppression_id: { kind: 'id' },
};
