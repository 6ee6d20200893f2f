import type { EventChange } from '../contract/administration.js';
import type { Queryable } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import { newId, nilId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';

/** The types of audit events. The activity of a user consists of the events about this user. */
export type EventType =
  | 'login.started'
  | 'login.approved'
  | 'login.rejected'
  | 'login.refused_locked'
  | 'account.locked_by_guesses'
  | 'token.deleted'
  | 'token.misused'
  | 'token.shared'
  | 'device.changed'
  | 'device.removed'
  | 'message.sent'
  | 'message.failed'
  | 'message.expired'
  | 'message.undelivered'
  | 'message.retried'
  | 'users.bulk'
  | 'user.created'
  | 'user.changed'
  | 'user.password_changed'
  | 'user.pin_changed'
  | 'user.deactivated'
  | 'user.reactivated'
  | 'user.locked'
  | 'user.unlocked'
  | 'user.logged_out'
  | 'user.logged_out_elsewhere'
  | 'user.deleted'
  | 'role.link_made'
  | 'role.activated'
  | 'setup_link.created'
  | 'support_login.requested'
  | 'support_login.allowed'
  | 'support_login.refused'
  | 'support_login.started'
  | 'support_login.ended'
  | 'session.proven'
  | 'proof.started'
  | 'proof.rejected'
  | 'address.change_started'
  | 'address.change_rejected'
  | 'recovery.started'
  | 'recovery.rejected'
  | 'recovery.completed'
  | 'registration.completed'
  | 'guest.merged'
  | 'identity.verified'
  | 'pin_recovery.started'
  | 'pin_recovery.cancelled'
  | 'registration.started'
  | 'registration.rejected'
  | 'totp.enrolled'
  | 'totp.removed'
  | 'passkey.enrolled'
  | 'passkey.removed'
  | 'passkey.refused'
  | 'recovery_codes.made'
  | 'recovery_code.used'
  | 'second_factors.removed'
  | 'external_identity.linked'
  | 'external_identity.unlinked'
  | 'key.created'
  | 'key.revoked'
  | 'webhook.created'
  | 'webhook.changed'
  | 'webhook.deleted'
  | 'webhook.secret_rotated'
  | 'webhook.replayed'
  | 'webhook.disabled'
  | 'backup.started'
  | 'backup.verification_started'
  | 'preferences.changed'
  | 'categories.changed'
  | 'topic.created'
  | 'topic.changed'
  | 'topic.deleted'
  | 'topic.subscriptions_changed'
  | 'publication.created'
  | 'publication.changed'
  | 'publication.paused'
  | 'publication.resumed'
  | 'publication.cancelled'
  | 'publication.recalled'
  | 'channel.paused'
  | 'channel.resumed'
  | 'audience.created'
  | 'audience.changed'
  | 'audience.deleted'
  | 'signing_keys.rotated'
  | 'block.created'
  | 'block.deleted'
  | 'test_identity.created'
  | 'test_identity.deleted'
  | 'test_identity.used'
  | 'sms.prefix_paused'
  | 'suppression.created'
  | 'suppression.deleted';

/** An audit event that is about no user, such as a change of an API key. */
export interface ServiceEvent {
  readonly type: EventType;
  /** The actor of the event. */
  readonly origin: Origin;
  /** Must not contain secrets. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** An audit event about a user. */
export interface NewEvent extends ServiceEvent {
  /** The user's id. For an identity without an account, its derived id (see `derivedUserId`). */
  readonly userId: string;
  /** The changed fields. They are personal data, so they are removed when the user is deleted. No secrets. */
  readonly changes?: readonly EventChange[];
}

interface EventValues {
  readonly userId: string;
  readonly id: string;
  readonly type: EventType;
  readonly actor: string;
  readonly address: string | null;
  readonly requestId: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

const insertEvent = statement<EventValues>(
  'event_insert',
  (p) => sql`
  insert into events (user_id, id, type, actor, address, request_id, data, created_at)
  values (${p.userId}, ${p.id}, ${p.type}, ${p.actor}, ${p.address}::inet, ${p.requestId}, ${p.data}, db_now())`,
);

/**
 * Records an event about a user. Pass the transaction of the change, so that both commit or neither does.
 */
export async function recordEvent(handle: Queryable, event: NewEvent): Promise<void> {
  const { userId, changes = [], data } = event;
  const storedEvent = changes.length === 0 ? event : { ...event, data: { ...data, changes } };
  await handle.query(insertEvent(valuesOf(storedEvent, userId)));
}

/** Records an event about no user. The row has the nil UUID as its user. */
export async function recordServiceEvent(handle: Queryable, event: ServiceEvent): Promise<void> {
  await handle.query(insertEvent(valuesOf(event, nilId)));
}

function valuesOf({ type, origin, data = {} }: ServiceEvent, userId: string): EventValues {
  const { actor, clientAddress: address = null, requestId = null } = origin;
  return { userId, id: newId(), type, actor, address, requestId, data };
}
