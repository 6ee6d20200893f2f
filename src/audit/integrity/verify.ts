import type { Database } from '../../database/database.js';
import { everyoneStatement, sql } from '../../database/sql.js';
import { chainHash, type Leaf, leafOfEvent, readLeaves } from './digests.js';
import type { SealedDay } from './seal.js';

/** A difference between the audit events and their hash chains. */
export interface AuditFinding {
  /** `chain`: the hashes were changed. `anchor`: the hash of the day differs from the one that was stored elsewhere. */
  readonly what: 'removed' | 'added' | 'changed' | 'chain' | 'anchor';
  readonly day: string;
  /** The id of the event. Undefined for `chain` and `anchor`. */
  readonly id?: string;
}

/** The result of a check. */
export interface AuditReport {
  readonly days: number;
  readonly events: number;
  readonly findings: readonly AuditFinding[];
  /** The newest sealed day. Undefined: none is sealed yet. */
  readonly last: SealedDay | undefined;
}

/** Maximum number of findings in a report. */
const maxFindings = 1000;

const selectDays = everyoneStatement<object, { day: string; events: string; hash: Buffer }>(
  'audit_verify_days',
  () => sql`select day::text, events, hash from audit_days where hash is not null order by day`,
);

/** The next part of a day. */
const selectPart = everyoneStatement<
  { day: string; after: number },
  { part: number; last_at: string; last_id: string; leaves: Buffer; hash: Buffer }
>(
  'audit_verify_part',
  (p) => sql`
  select part, last_at::text, last_id, leaves, hash from audit_parts
  where day = ${p.day}::date and part > ${p.after}::int order by part limit 1`,
);

/** The events after one key, up to and including another key, with their leaves, and whether their user was deleted. */
const selectEvents = everyoneStatement<
  { afterAt: string; afterId: string; toAt: string; toId: string; limit: number },
  { leaf: Buffer; at: string; id: string; is_erased: boolean }
>(
  'audit_verify_events',
  (p) => sql`
  select ${leafOfEvent} as leaf, created_at::text as at, id,
         not exists (select from users u where u.id = events.user_id) as is_erased
  from events
  where (created_at, id) > (${p.afterAt}::timestamptz, ${p.afterId}::uuid)
    and (created_at, id) <= (${p.toAt}::timestamptz, ${p.toId}::uuid)
  order by created_at, id limit ${p.limit}::bigint`,
);

/** The events with these ids whose times are in a range, with their leaves, and whether their user was deleted. */
const selectNamedEvents = everyoneStatement<
  { ids: readonly string[]; fromAt: string; toAt: string },
  { leaf: Buffer; id: string; is_erased: boolean }
>(
  'audit_verify_named_events',
  (p) => sql`
  select ${leafOfEvent} as leaf, id, not exists (select from users u where u.id = events.user_id) as is_erased
  from events
  where created_at >= ${p.fromAt}::timestamptz and created_at <= ${p.toAt}::timestamptz and id = any (${p.ids}::uuid[])`,
);

const selectCutoff = everyoneStatement<{ age: number }, { cutoff: string }>(
  'audit_verify_cutoff',
  (p) =>
    sql`select ((db_now() - ${p.age}::float8 * interval '1 millisecond') at time zone 'UTC')::date::text as cutoff`,
);

/** Whether an event is unchanged, or lacks only the values that the deletion of its user erases. */
function isSame(original: Leaf, leaf: Buffer, isErased: boolean): boolean {
  const [current] = readLeaves(leaf);
  return (
    current?.digest === original.digest ||
    (isErased && current?.erasedDigest === original.erasedDigest && current.digest === current.erasedDigest)
  );
}

interface EventKey {
  readonly at: string;
  readonly id: string;
}

/** An event that the hashes of its server do not have. */
interface AddedEvent {
  readonly leaf: Buffer;
  readonly isErased: boolean;
}

const minId = '00000000-0000-0000-0000-000000000000';
const maxId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const batchSize = 2000;

/**
 * Compares the audit events of all sealed days of one server with its hash chain. Does not report events that expired,
 * values that the deletion of a user erased, or events that moved between servers with their user.
 *
 * @param options.eventsAge milliseconds for which audit events are kept
 * @param options.anchors hashes of days that were stored elsewhere, in hex, by day
 * @param options.others the other servers, if users are on several
 */
export async function verifyAudit(
  database: Pick<Database, 'everyone'>,
  options: {
    readonly eventsAge: number;
    readonly anchors: ReadonlyMap<string, string>;
    readonly others?: readonly Pick<Database, 'everyone'>[];
  },
): Promise<AuditReport> {
  const { eventsAge, anchors, others = [] } = options;
  const findings: AuditFinding[] = [];
  const report = (finding: AuditFinding) => findings.length < maxFindings && findings.push(finding);
  const [row] = await database.everyone.query(selectCutoff({ age: eventsAge }));
  const cutoff = row?.cutoff ?? '';
  const days = await database.everyone.query(selectDays({}));
  const sealed = new Map(days.map(({ day, hash }) => [day, hash.toString('hex')]));
  for (const [day, hash] of anchors) if (sealed.get(day) !== hash) report({ what: 'anchor', day });

  let count = 0;
  let hash: Buffer = Buffer.alloc(0);
  let from: EventKey = { at: '-infinity', id: minId };
  /** Events of the day `addedDay` that the hashes of this server do not have. */
  const added = new Map<string, AddedEvent>();
  let addedDay = '';

  /** Reports these events, except those that another server has sealed. @param day the day whose check has found them */
  async function reportAdded(day: string): Promise<void> {
    for (const id of await findSealed(others, addedDay, added)) added.delete(id);
    for (const id of added.keys()) report({ what: 'added', day, id });
    added.clear();
  }

  /** Compares the events after `from`, up to the key `to`, with leaves. */
  async function compare(day: string, to: EventKey, leaves: readonly Leaf[]): Promise<void> {
    const missing = new Map(leaves.map((leaf) => [leaf.id, leaf]));
    const fromAt = from.at;
    for (let isDone = false; !isDone; ) {
      const rows = await database.everyone.query(
        selectEvents({ afterAt: from.at, afterId: from.id, toAt: to.at, toId: to.id, limit: batchSize }),
      );
      for (const { leaf, at, id, is_erased: isErased } of rows) {
        const original = missing.get(id);
        missing.delete(id);
        if (original === undefined && others.length > 0) {
          // The check of a day also finds the events of earlier days that this server has not sealed.
          const ownDay = at.slice(0, 10);
          if (ownDay !== addedDay) await reportAdded(day);
          addedDay = ownDay;
          // The other server may have deleted the hashes of an expired day already.
          if (ownDay > cutoff) added.set(id, { leaf, isErased });
        } else if (original === undefined) report({ what: 'added', day, id });
        else if (!isSame(original, leaf, isErased)) report({ what: 'changed', day, id });
        from = { at, id };
        count += 1;
      }
      isDone = rows.length < batchSize;
    }
    from = to;
    // Expired events are deleted one by one, so some events of the oldest day may be deleted already.
    if (day === cutoff) return;
    const range = { fromAt, toAt: to.at };
    for (const id of await findMoved(others, missing, range)) missing.delete(id);
    for (const id of missing.keys()) report({ what: 'removed', day, id });
  }

  for (const { day, hash: sealedHash } of days) {
    const start: EventKey = { at: `${day} 00:00:00+00`, id: minId };
    const end: EventKey = { at: `${day} 23:59:59.999999+00`, id: maxId };
    if (day < cutoff) {
      // The events and parts of an expired day are deleted step by step, perhaps at this moment.
      from = end;
      hash = sealedHash;
      continue;
    }
    // Some rows of the oldest day, and all rows of the days before it, may be deleted already.
    if (day === cutoff) from = start;
    else await compare(day, start, []);
    let part = 0;
    let isIntact = true;
    for (;;) {
      const [next] = await database.everyone.query(selectPart({ day, after: part }));
      if (next === undefined) break;
      isIntact &&= next.part === part + 1 && chainHash(hash, next.leaves).equals(next.hash);
      ({ hash, part } = next);
      await compare(day, { at: next.last_at, id: next.last_id }, readLeaves(next.leaves));
    }
    if (!isIntact || !hash.equals(sealedHash)) report({ what: 'chain', day });
    await compare(day, end, []);
    await reportAdded(day);
    from = end;
    hash = sealedHash;
  }
  const last = days.at(-1);
  return {
    ...{ days: days.length, events: count, findings },
    last: last && { day: last.day, events: Number(last.events), hash: last.hash.toString('hex') },
  };
}

/**
 * Finds the missing events of a server that are unchanged on another server. An event that was changed there counts as
 * removed from the first server and as added to the other one.
 */
async function findMoved(
  others: readonly Pick<Database, 'everyone'>[],
  missing: ReadonlyMap<string, Leaf>,
  range: { readonly fromAt: string; readonly toAt: string },
): Promise<string[]> {
  if (missing.size === 0) return [];
  const statement = selectNamedEvents({ ...range, ids: [...missing.keys()] });
  const rows = (await Promise.all(others.map(({ everyone }) => everyone.query(statement)))).flat();
  return rows.flatMap(({ id, leaf, is_erased: isErased }) => {
    const original = missing.get(id);
    return original !== undefined && isSame(original, leaf, isErased) ? [id] : [];
  });
}

/** Finds the added events of a day that are unchanged in the hashes of another server, where their user was then. */
async function findSealed(
  others: readonly Pick<Database, 'everyone'>[],
  day: string,
  added: ReadonlyMap<string, AddedEvent>,
): Promise<string[]> {
  const sealed: string[] = [];
  if (added.size === 0) return sealed;
  for (const { everyone } of others) {
    for (let after = 0; ; ) {
      const [next] = await everyone.query(selectPart({ day, after }));
      if (next === undefined) break;
      after = next.part;
      for (const original of readLeaves(next.leaves)) {
        const event = added.get(original.id);
        if (event !== undefined && isSame(original, event.leaf, event.isErased)) sealed.push(original.id);
      }
    }
  }
  return sealed;
}
