import { type Parameters, type Sql, sql } from '../database/sql.js';
import { newId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';

/** SQL that the statements on `authentications` share. */

/** SQL: how long an authentication waits for its next secret. */
export const openFor = sql`interval '10 minutes'`;

/** SQL: the columns of `AuthenticationRecord`. */
export const recordColumns = sql`id, device_id, status, error_code, expires_at, created_at, updated_at,
  key_thumbprint is not null as is_bound`;

/** SQL: a column of an approving statement: whether its CTE `device` has inserted the device. */
export const isNewDevice = sql`exists (select from device where is_new) as is_new_device`;

/** The event of a statement, as values. */
export interface EventValues {
  readonly eventId: string;
  readonly actor: string;
  readonly address: string | null;
  readonly requestId: string | null;
}

/** The values of `EventValues` for an origin, with a new event id. */
export function eventValues({ actor, address, requestId }: Origin): EventValues {
  return { eventId: newId(), actor, address: address ?? null, requestId: requestId ?? null };
}

/** SQL: the CTE `event` with `EventValues`. */
export const eventInput = (p: Parameters<EventValues>): Sql => sql`event as (
    select ${p.eventId}::uuid as id, ${p.actor}::text as actor, ${p.address}::inet as address,
           ${p.requestId}::text as request_id)`;

/** SQL: records an event of each row of the CTE `authentication`, from the CTE `event`. @param type a text */
export const insertEvent = (type: Sql): Sql => sql`
  insert into events (user_id, id, type, actor, address, request_id, data, created_at)
  select a.user_id, e.id, ${type}, e.actor, e.address, e.request_id,
         jsonb_strip_nulls(jsonb_build_object('authentication_id', a.id, 'authenticator', a.authenticator,
           'second_factor', a.second_factor, 'device_id', a.device_id)), a.updated_at
  from authentication a, event e`;
