import type { MessageChannel } from '../contract/administration.js';
import { type Parameters, type Sql, type SqlPart, sql } from '../database/sql.js';
import { hasMoreUnusedDevices } from '../devices/device-limit.js';
import { newId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { queueForDispatch } from '../messages/enqueue.js';

/* Parts of SQL that several statements on `authentications` share. */

/** The message of a challenge, ready for the outbox. All values are null if the challenge has no message. */
export interface MessageValues {
  readonly messageId: string | null;
  readonly channel: MessageChannel | null;
  readonly kind: string | null;
  readonly recipient: string | null;
  readonly encryptedCode: Buffer | null;
  readonly recentCodes: number | null;
  /** Values of the template as JSON. */
  readonly params: string | null;
}

/** The message of a challenge with its encrypted code. */
export interface EncryptedMessage {
  readonly id: string;
  readonly channel: MessageChannel;
  readonly kind: string;
  readonly recipient: string | undefined;
  /** Null: the message holds no code. */
  readonly encryptedCode: Buffer | null;
  /** How many codes the client's address requested lately. */
  readonly recentCodes: number;
  /** Values of the template as JSON; null: only the code. */
  readonly params: string | null;
}

export function messageValues(message: EncryptedMessage | undefined): MessageValues {
  return {
    messageId: message?.id ?? null,
    channel: message?.channel ?? null,
    kind: message?.kind ?? null,
    recipient: message?.recipient ?? null,
    encryptedCode: message?.encryptedCode ?? null,
    recentCodes: message?.recentCodes ?? null,
    params: message?.params ?? null,
  };
}

/** SQL: two CTEs, `message` and `queued`, that write the message of the row of the CTE `authentication` and queue it. */
export const messageCtes = (p: Parameters<MessageValues>): Sql => sql`message as (
    insert into outbox (user_id, id, authentication_id, channel, kind, recipient, state, sealed_code, params, expires_at,
                        created_at, updated_at)
    select a.user_id, ${p.messageId}, a.id, ${p.channel}, ${p.kind}, ${p.recipient}, 'queued', ${p.encryptedCode}, ${p.params}::jsonb,
           a.challenge_ends_at, a.updated_at, a.updated_at
    from authentication a where ${p.messageId}::uuid is not null
    returning user_id, id, created_at),
  queued as (${queueForDispatch({ from: sql`message`, recentCodes: p.recentCodes })})`;

/** SQL: how long the user has to send the next secret of a login. */
export const timeForSecret = sql`interval '10 minutes'`;

/** SQL: the columns of `AuthenticationRecord`. */
export const recordColumns = sql`id, device_id, status, error_code, least(expires_at, idle_expires_at) as expires_at, created_at, updated_at,
  key_thumbprint is not null as is_bound`;

/**
 * SQL: two columns of a statement that approves a login. `is_new_device`: its CTE `device` has inserted the device.
 * `has_more_devices`: a device was inserted, and now the user may have too many devices that have had no session.
 */
export const newDeviceColumns = (userId: SqlPart, policies: SqlPart): Sql => sql`
  exists (select from device where is_new) as is_new_device,
  exists (select from device where is_new) and ${hasMoreUnusedDevices(userId, policies)} as has_more_devices`;

/** The parameters of a statement that records an audit event. */
export interface EventValues {
  readonly eventId: string;
  readonly actor: string;
  readonly address: string | null;
  readonly requestId: string | null;
}

/** Returns the `EventValues` of a request, with a new event id. */
export function eventValues({ actor, clientAddress: address, requestId }: Origin): EventValues {
  return { eventId: newId(), actor, address: address ?? null, requestId: requestId ?? null };
}

/** SQL: the CTE `event`, a single row with the `EventValues`. */
export const eventCte = (p: Parameters<EventValues>): Sql => sql`event as (
    select ${p.eventId}::uuid as id, ${p.actor}::text as actor, ${p.address}::inet as address,
           ${p.requestId}::text as request_id)`;

/**
 * SQL: inserts an audit event for the row of the CTE `authentication`, if it has one, with the values of the CTE `event`.
 *
 * @param type the type of the event, as SQL of the type `text`
 * @param actor who has caused it, if not the actor of the CTE `event`
 */
export const insertEvent = (type: Sql, actor = sql`e.actor`): Sql => sql`
  insert into events (user_id, id, type, actor, address, request_id, data, created_at)
  select a.user_id, e.id, ${type}, ${actor}, e.address, e.request_id,
         jsonb_strip_nulls(jsonb_build_object('authentication_id', a.id, 'authenticator', a.authenticator,
           'second_factor', a.second_factor, 'device_id', a.device_id)), a.updated_at
  from authentication a, event e`;
