import type { WebhookEventType } from '../contract/webhooks.js';
import type { EventData } from './catalogue.js';

const [authentication, device] = ['5f0c1e3a-9f4c-4a5e-8f5c-0a6f6d1b2c3d', '0d9e4a52-6c1b-4f7e-9a35-2b8c7d6e5f40'];
const guest = '1f2e3d4c-5b6a-4798-8a7b-6c5d4e3f2a1b';
const [notification, message] = ['b7c1d2e3-f405-4617-a829-3a4b5c6d7e8f', '9c8b7a69-5847-4635-8241-f0e1d2c3b4a5'];
const login = {
  changed_fields: [],
  authentication_id: authentication,
  device_id: device,
  authenticator: 'password',
  second_factor: null,
};
const [byUser, byKey, byNobody] = [{ actor: 'user' }, { actor: 'key:environment' }, { actor: null }];
const [publication, bySystem] = ['3c2b1a09-8f7e-4d6c-b5a4-938271605f4e', { actor: 'system' }];
const none = { changed_fields: [] };
const suppression = '7e6d5c4b-3a29-4180-9f7e-6d5c4b3a2918';
const delivery = {
  ...none,
  delivery_id: message,
  notification_id: notification,
  channel: 'email',
  device_id: null,
  category: 'billing',
  ...bySystem,
};

/** An example of the data of each event, without `user_id` and `sequence`. */
const examples: Readonly<Record<WebhookEventType, EventData>> = {
  'user.created': { ...none, ...byKey },
  'user.updated': { changed_fields: ['name', 'email'], ...byKey },
  'user.deleted': { ...none, ...byKey },
  'user.locked': { ...none, ...byKey },
  'user.unlocked': { ...none, ...byKey },
  'user.deactivated': { ...none, ...byKey },
  'identity.verified': { ...none, identity_type: 'email', ...byUser },
  'login.approved': { ...login, ...byUser },
  'login.rejected': { ...login, reason: 'rejected', ...byUser },
  'login.locked': { ...none, device_id: device, ...byUser },
  'device.added': { ...none, device_id: device, ...byNobody },
  'device.removed': { ...none, device_id: device, ...byUser },
  'token.ended': { ...none, authentication_id: authentication, device_id: device, ...byNobody },
  'credential.changed': { ...none, credential: 'password', change: 'changed', ...byUser },
  'recovery.completed': { ...none, recovers: 'password', ...byUser },
  'registration.completed': { ...none, ...byUser },
  'guest.merged': { ...none, guest_id: guest, ...byUser },
  'notification.created': { ...none, notification_id: notification, notification_sequence: 7, ...byNobody },
  'notification.updated': {
    notification_id: notification,
    notification_sequence: 7,
    changed_fields: ['description'],
    ...byNobody,
  },
  'notification.deleted': { ...none, notification_id: notification, notification_sequence: 7, ...byNobody },
  'notification.state_changed': {
    ...none,
    notification_ids: [notification],
    through: null,
    read: true,
    archived: null,
    snoozed_until: null,
    ...byNobody,
  },
  'notification.action': {
    ...none,
    notification_id: notification,
    notification_sequence: 7,
    action: 'accept',
    ...byNobody,
  },
  'marker.moved': { ...none, last_read_sequence: 7, ...byNobody },
  'delivery.sent': { ...delivery, reason: 'accepted' },
  'delivery.delivered': { ...delivery, reason: 'delivered' },
  'delivery.bounced': { ...delivery, reason: 'hard_bounce' },
  'delivery.complained': { ...delivery, reason: 'complaint' },
  'delivery.failed': { ...delivery, channel: 'push', device_id: device, reason: 'token_gone' },
  'delivery.expired': { ...delivery, reason: 'ttl' },
  'preference.changed': { changed_fields: ['time_zone', 'categories.billing.email'], ...byUser },
  'topic.created': { ...none, topic: 'club.chess', ...byKey },
  'topic.updated': { ...none, topic: 'club.chess', ...byKey },
  'topic.deleted': { ...none, topic: 'club.chess', ...byKey },
  'topic.subscribed': { ...none, topic: 'club.chess', ...byNobody },
  'topic.unsubscribed': { ...none, topic: 'club.chess', ...byNobody },
  'publication.started': { ...none, publication_id: publication, ...bySystem },
  'publication.paused': { ...none, publication_id: publication, ...byKey },
  'publication.resumed': { ...none, publication_id: publication, ...byKey },
  'publication.done': { ...none, publication_id: publication, ...bySystem },
  'publication.cancelled': { ...none, publication_id: publication, ...byKey },
  'publication.failed': { ...none, publication_id: publication, ...bySystem },
  'publication.recalled': { ...none, publication_id: publication, ...bySystem },
  'suppression.created': { ...none, suppression_id: suppression, reason: 'hard_bounce', ...bySystem },
  'suppression.deleted': { ...none, suppression_id: suppression, reason: 'hard_bounce', ...byKey },
  'message.failed': { ...none, message_id: message, kind: 'sms.code', actor: 'system' },
  'push.token_gone': { ...none, device_id: device, channel: 'fcm', ...byNobody },
  'audit.sealed': {
    ...none,
    day: '2026-11-22',
    events: 1024,
    hash: '5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03',
    actor: 'system',
  },
};

/** The example of an event. */
export const exampleOf = (type: WebhookEventType): EventData => examples[type];
