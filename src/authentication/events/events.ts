import { prepared, type Queryable } from '../../database/database.js';
import { newId } from '../../lib/ids.js';
import type { Origin } from '../../lib/origin.js';

/** What can happen to an account: the audit trail, and the user's activity. */
export type EventType =
  | 'login.started'
  | 'login.approved'
  | 'login.rejected'
  | 'login.refused_locked'
  | 'account.locked_by_guesses'
  | 'token.deleted'
  | 'device.changed'
  | 'device.removed'
  | 'message.sent'
  | 'message.failed'
  | 'message.expired'
  | 'user.created'
  | 'user.changed'
  | 'user.password_changed'
  | 'user.pin_changed'
  | 'user.deactivated'
  | 'user.reactivated'
  | 'user.locked'
  | 'user.unlocked'
  | 'user.logged_out'
  | 'user.deleted'
  | 'role.link_made'
  | 'role.activated'
  | 'session.proven'
  | 'proof.started'
  | 'proof.rejected'
  | 'address.change_started'
  | 'address.change_rejected'
  | 'recovery.started'
  | 'recovery.rejected'
  | 'recovery.completed'
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
  | 'key.revoked';

export interface NewEvent {
  readonly userId: string;
  readonly type: EventType;
  readonly origin: Origin;
  /** Never a secret. */
  readonly data?: Readonly<Record<string, unknown>>;
}

const insertEvent = prepared(
  'event_insert',
  `insert into events (user_id, id, type, actor, address, request_id, data, created_at)
   values ($1, $2, $3, $4, $5::inet, $6, $7, db_now())`,
);

/** Writes down what happened, in the transaction in which it happened. */
export async function recordEvent(handle: Queryable, event: NewEvent): Promise<void> {
  const { userId, type, origin, data } = event;
  const { actor, address, requestId } = origin;
  await handle.query(insertEvent, [userId, newId(), type, actor, address ?? null, requestId ?? null, data ?? {}]);
}
