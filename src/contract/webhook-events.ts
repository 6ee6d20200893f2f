import { stepChannels } from './category.js';
import { suppressionReasons } from './suppression.js';
import type { WebhookEventType } from './webhooks.js';

/** JSON Schema of one member of `data`. */
type MemberSchema = Readonly<Record<string, unknown>>;

const id = { type: 'string', format: 'uuid' };
const nullableText = { type: ['string', 'null'] };
const nullableId = { type: ['string', 'null'], format: 'uuid' };

/** The members that the data of every event has. */
const common = {
  user_id: { ...id, description: 'All zeros for an event that concerns no user.' },
  sequence: {
    type: 'integer',
    minimum: 0,
    description: 'Counts the events of the user, or those that concern no user. 0 in a test event.',
  },
  changed_fields: { type: 'array', items: { type: 'string' } },
  actor: { ...nullableText, description: 'Who caused the event. Null: it was not recorded.' },
};

const login = {
  authentication_id: nullableId,
  device_id: nullableId,
  authenticator: nullableText,
  second_factor: nullableText,
};
const notification = { notification_id: id, notification_sequence: { type: ['integer', 'null'], minimum: 1 } };
const topic = { topic: { type: 'string', description: 'The key of the topic.' } };
const publication = { publication_id: nullableId };
const delivery = {
  delivery_id: { ...nullableId, description: 'Null: it ended before it was in the queue.' },
  notification_id: { ...id, description: 'Of a digest, the newest notification.' },
  channel: { type: 'string', enum: [...stepChannels] },
  device_id: { ...nullableId, description: 'The device of a push.' },
  category: { ...nullableText, description: 'Null: the notification was deleted.' },
  reason: { type: 'string', description: 'As in the deliveries of a notification.' },
};
const suppression = { suppression_id: id, reason: { type: 'string', enum: [...suppressionReasons] } };

interface EventDescription {
  readonly about: string;
  /** The members of this event, in addition to the members that all events have. */
  readonly members: Readonly<Record<string, MemberSchema>>;
}

const events: Readonly<Record<WebhookEventType, EventDescription>> = {
  'user.created': { about: 'A user was created.', members: {} },
  'user.updated': { about: 'Fields of a user were changed. `changed_fields` names them.', members: {} },
  'user.deleted': { about: 'A user was deleted.', members: {} },
  'user.locked': { about: 'An operator locked a user.', members: {} },
  'user.unlocked': { about: 'A lock of a user was removed.', members: {} },
  'user.deactivated': { about: 'A user was deactivated.', members: {} },
  'identity.verified': {
    about: 'A user proved an email address or a phone number.',
    members: { identity_type: nullableText },
  },
  'login.approved': { about: 'A login succeeded.', members: login },
  'login.rejected': {
    about: 'A login of an existing user failed.',
    members: { ...login, reason: { type: 'string', enum: ['rejected', 'locked'] } },
  },
  'login.locked': { about: 'Wrong secrets locked the logins of a user.', members: { device_id: nullableId } },
  'device.added': { about: 'A user logged in on a new device.', members: { device_id: nullableId } },
  'device.removed': { about: 'A device was removed.', members: { device_id: nullableId } },
  'token.ended': {
    about:
      'An authentication token ended: by a logout, a newer login on the device, a change of credentials, or because the device was removed or the user was deactivated or deleted. If `authentication_id` is null, all tokens of the user ended.',
    members: { authentication_id: nullableId, device_id: nullableId },
  },
  'credential.changed': {
    about: 'A password, a PIN, a second factor or a linked account was changed.',
    members: { credential: { type: 'string' }, change: { type: 'string', enum: ['changed', 'added', 'removed'] } },
  },
  'recovery.completed': {
    about: 'A user set a new password or PIN by account recovery.',
    members: { recovers: nullableText },
  },
  'registration.completed': { about: 'A user completed a registration.', members: {} },
  'guest.merged': {
    about: 'A user has taken over the inbox of a guest. The guest was deleted (`user.deleted`).',
    members: { guest_id: nullableId },
  },
  'notification.created': { about: 'A notification was published.', members: notification },
  'notification.updated': { about: 'A notification was changed.', members: notification },
  'notification.deleted': { about: 'A notification was deleted.', members: notification },
  'notification.state_changed': {
    about:
      'A user changed the states of notifications: one event for each request. The event names the notifications in `notification_ids`. If the request had a filter instead, `through` is the last sequence that it may have changed. A state that is null was not changed.',
    members: {
      notification_ids: { type: ['array', 'null'], items: id },
      through: { type: ['integer', 'null'], minimum: 0 },
      read: { type: ['boolean', 'null'] },
      archived: { type: ['boolean', 'null'] },
      snoozed_until: { type: ['string', 'null'], format: 'date-time' },
    },
  },
  'notification.action': {
    about: 'A user chose an action of a notification. It is read then, so that `notification.state_changed` comes too.',
    members: { ...notification, action: { type: 'string', description: 'The key of the action.' } },
  },
  'marker.moved': {
    about: 'The read position of a user moved: the user has read notifications.',
    members: { last_read_sequence: { type: ['integer', 'null'], minimum: 0 } },
  },
  'delivery.sent': {
    about: 'A provider accepted the push, the mail or the SMS of a notification.',
    members: delivery,
  },
  'delivery.delivered': {
    about: 'A mail or an SMS of a notification has arrived, as the provider reports.',
    members: delivery,
  },
  'delivery.bounced': {
    about: 'A mail or an SMS of a notification did not arrive: the provider or the mailbox returned it.',
    members: delivery,
  },
  'delivery.complained': { about: 'The recipient reported a mail of a notification as spam.', members: delivery },
  'delivery.failed': {
    about: 'No provider took the push, the mail or the SMS of a notification. It is not tried again.',
    members: delivery,
  },
  'delivery.expired': {
    about: 'The push, the mail or the SMS of a notification could not be sent in time. It is not tried again.',
    members: delivery,
  },
  'preference.changed': {
    about:
      'What a user wants to get was changed. `changed_fields` names the members of the preferences, such as `categories.billing.email`.',
    members: {},
  },
  'topic.created': {
    about: 'A topic was created. The event concerns no user: `user_id` is all zeros.',
    members: topic,
  },
  'topic.updated': { about: 'A topic was changed. The event concerns no user.', members: topic },
  'topic.deleted': { about: 'A topic was deleted with its subscriptions. The event concerns no user.', members: topic },
  'topic.subscribed': { about: 'A user was subscribed to a topic.', members: topic },
  'topic.unsubscribed': {
    about:
      'The subscription of a user to a topic ended. The deletion of the topic or of the user causes no such event.',
    members: topic,
  },
  'publication.started': {
    about: 'A publication started. The event concerns no user.',
    members: publication,
  },
  'publication.paused': {
    about: 'A publication was paused. The event concerns no user.',
    members: publication,
  },
  'publication.resumed': {
    about: 'A publication goes on. The event concerns no user.',
    members: publication,
  },
  'publication.done': {
    about: 'All notifications of a publication are created. The event concerns no user.',
    members: publication,
  },
  'publication.cancelled': {
    about: 'A publication was cancelled: it creates no more notifications. The event concerns no user.',
    members: publication,
  },
  'publication.failed': {
    about:
      'A publication ended because Postern can no longer create its notification, for example because the category was deleted. The event concerns no user.',
    members: publication,
  },
  'publication.recalled': {
    about:
      'All notifications of a recalled publication are deleted. Each causes `notification.deleted` too. The event concerns no user.',
    members: publication,
  },
  'suppression.created': {
    about:
      'An address gets no mail except codes any more. `user_id` is the user whose mail did not arrive, or all zeros if an operator added the address.',
    members: suppression,
  },
  'suppression.deleted': {
    about: 'A suppressed address gets mail again. The event concerns no user.',
    members: suppression,
  },
  'message.failed': {
    about: 'A message with a code or a notice was not sent, or did not arrive.',
    members: { message_id: nullableId, kind: nullableText },
  },
  'push.token_gone': {
    about: 'A push service refused the token of a device permanently, and Postern has removed the token.',
    members: { device_id: nullableId, channel: nullableText },
  },
  'audit.sealed': {
    about: 'Postern sealed the audit events of a day. The event concerns no user: `user_id` is all zeros.',
    members: {
      day: { type: 'string', format: 'date', description: 'In UTC.' },
      events: { type: 'integer', minimum: 0, description: 'The number of audit events of the day.' },
      hash: { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'The anchor for `postern audit verify`.' },
    },
  },
};

/**
 * JSON Schema (draft 2020-12) of the body of a delivery whose endpoint gets thin data: ids instead of full objects.
 * Receivers must accept more members, because full payloads, test events and later releases have them.
 */
export function webhookEventSchema(type: WebhookEventType) {
  const { about, members } = events[type];
  const data = { ...common, ...members };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: type,
    description: about,
    type: 'object',
    required: ['id', 'type', 'timestamp', 'endpoint_id', 'data'],
    properties: {
      id,
      type: { const: type },
      timestamp: { type: 'string', format: 'date-time' },
      endpoint_id: id,
      data: { type: 'object', required: Object.keys(data), properties: data },
    },
  };
}
