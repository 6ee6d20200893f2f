import type { MaintenanceTask } from '../../database/maintenance/tasks.js';
import { literal, sql, statement } from '../../database/sql.js';
import { chainHash, leafOfEvent } from './digests.js';

/** A sealed day. If you store it elsewhere, you can later prove that nobody has rewritten the whole chain. */
export interface SealedDay {
  /** In UTC, such as `2026-11-23`. */
  readonly day: string;
  readonly events: number;
  /** In hex. */
  readonly hash: string;
}

/** Maximum number of events in a part of a day. Each part adds one hash to the chain. */
const partSize = 2000;
/** Maximum number of parts that a step deletes: about 10 MB. */
const maxDeletedParts = 100;
/** Milliseconds from the end of the task to its next start. */
const pauseMs = 600_000;

/**
 * A stored transaction number that this server has not reached comes from the server that was dumped. All transactions
 * of that server have ended.
 */
const selectOpenDay = statement<object, { day: string; is_complete: boolean }>(
  'audit_open_day',
  () => sql`
  select day::text, closing <= pg_snapshot_xmin(now) or closing >= pg_snapshot_xmax(now) as is_complete
  from audit_days, pg_current_snapshot() now where hash is null`,
);

/**
 * Opens the next day that has events and ended at least an hour ago. The hour covers statements that began before the end of
 * the day: PostgreSQL sets the time of an event before it gives the transaction a number.
 */
const openDay = statement<object, { day: string }>(
  'audit_day_open',
  () => sql`
  insert into audit_days (day, closing)
  select (first.created_at at time zone 'UTC')::date, pg_current_xact_id()
  from (select created_at from events
        where created_at >= coalesce((select (max(day) + 1)::timestamp at time zone 'UTC' from audit_days), '-infinity')
        order by created_at, id limit 1) first
  where date_trunc('day', first.created_at, 'UTC') + interval '25 hours' <= db_now()
  returning day::text`,
);

/** The end of the chain: the last part of the open day, or the last sealed day. */
const selectEnd = statement<
  { day: string },
  { part: number | null; last_at: string | null; last_id: string | null; hash: Buffer }
>(
  'audit_chain_end',
  (p) => sql`
  select last.part, last.last_at::text, last.last_id,
         coalesce(last.hash, (select hash from audit_days where day < ${p.day}::date order by day desc limit 1), '') as hash
  from (select) one left join lateral (
    select part, last_at, last_id, hash from audit_parts where day = ${p.day}::date order by part desc limit 1) last on true`,
);

/** The leaves of the next events of a day. */
const selectLeaves = statement<
  { day: string; lastAt: string | null; lastId: string | null; limit: number },
  { events: number; last_at: string; last_id: string; leaves: Buffer }
>(
  'audit_leaves',
  (p) => sql`
  with next as materialized (
    select created_at, id, ${leafOfEvent} as leaf from events
    where (created_at, id) > (coalesce(${p.lastAt}::timestamptz, ${p.day}::timestamp at time zone 'UTC'),
                              coalesce(${p.lastId}::uuid, '00000000-0000-0000-0000-000000000000'))
      and created_at < (${p.day}::date + 1)::timestamp at time zone 'UTC'
    order by created_at, id limit ${p.limit}::bigint)
  select count(*)::int as events, string_agg(leaf, ''::bytea order by created_at, id) as leaves,
         (select created_at::text from next order by created_at desc, id desc limit 1) as last_at,
         (select id from next order by created_at desc, id desc limit 1) as last_id
  from next having count(*) > 0`,
);

const insertPart = statement<{
  day: string;
  part: number;
  lastAt: string;
  lastId: string;
  leaves: Buffer;
  hash: Buffer;
  events: number;
}>(
  'audit_part_insert',
  (p) => sql`
  with counted as (update audit_days set events = events + ${p.events}::int where day = ${p.day}::date)
  insert into audit_parts (day, part, last_at, last_id, leaves, hash)
  values (${p.day}::date, ${p.part}::int, ${p.lastAt}::timestamptz, ${p.lastId}::uuid, ${p.leaves}::bytea, ${p.hash}::bytea)`,
);

/** Seals a day. If there are webhooks, also records their event (decision 22). */
const sealDay = statement<{ day: string; hash: Buffer }, { events: string }>(
  'audit_day_seal',
  (p) => sql`
  with sealed as (
    update audit_days set hash = ${p.hash}::bytea, sealed_at = db_now() where day = ${p.day}::date
    returning day, events, hash, sealed_at
  ),
  webhook as (
    insert into webhook_outbox (created_at, type, actor, user_ids, data)
    select sealed_at, 'audit.sealed', 'system', array['00000000-0000-0000-0000-000000000000'::uuid],
           jsonb_build_object('day', day, 'events', events, 'hash', encode(hash, 'hex'))
    from sealed where exists (select from webhook_endpoints)
  )
  select events from sealed`,
);

/** When the events of a day are deleted, its parts are useless. Its hash stays, because the chain of the next day starts with it. */
const deleteParts = statement<{ age: number }, { deleted: number }>(
  'audit_parts_delete',
  (p) => sql`
  delete from audit_parts where (day, part) in (
    select day, part from audit_parts
    where day < ((db_now() - ${p.age}::float8 * interval '1 millisecond') at time zone 'UTC')::date
    order by day, part limit ${literal(maxDeletedParts)})
  returning 1 as deleted`,
);

/**
 * The task that writes the hash chains. It seals a day (UTC) after the day and all its transactions have ended. Each step writes
 * one part.
 *
 * @param eventsAge milliseconds for which audit events are kept
 * @param onSealed called in the transaction that seals a day
 */
export function sealTask(eventsAge: number, onSealed: (day: SealedDay) => void): MaintenanceTask {
  return {
    name: 'seal audit events',
    pauseMs,
    async step(tx) {
      const [open] = await tx.query(selectOpenDay({}));
      if (open === undefined) {
        if ((await tx.query(openDay({}))).length > 0) return { removed: 0, next: {} };
        const removedCount = (await tx.query(deleteParts({ age: eventsAge }))).length;
        return removedCount < maxDeletedParts ? { removed: removedCount } : { removed: removedCount, next: {} };
      }
      const { day, is_complete: isComplete } = open;
      if (!isComplete) return { removed: 0 };
      const [end] = await tx.query(selectEnd({ day }));
      if (end === undefined) throw new Error('the query for the end of the chain returned no row');
      const { last_at: lastAt, last_id: lastId, hash } = end;
      const [next] = await tx.query(selectLeaves({ day, lastAt, lastId, limit: partSize }));
      if (next === undefined) {
        const [sealed] = await tx.query(sealDay({ day, hash }));
        onSealed({ day, events: Number(sealed?.events), hash: hash.toString('hex') });
      } else {
        await tx.query(
          insertPart({
            day,
            part: (end.part ?? 0) + 1,
            lastAt: next.last_at,
            lastId: next.last_id,
            leaves: next.leaves,
            hash: chainHash(hash, next.leaves),
            events: next.events,
          }),
        );
      }
      return { removed: 0, next: {} };
    },
  };
}
