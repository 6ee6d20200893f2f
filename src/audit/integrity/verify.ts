import type { Handle } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
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

const selectDays = statement<object, { day: string; events: string; hash: Buffer }>(
  'audit_verify_days',
  () => sql`select day::text, events, hash from audit_days where hash is not null order by day`,
);

/** The next part of a day. */
const selectPart = statement<
  { day: string; after: number },
  { part: number; last_at: string; last_id: string; leaves: Buffer; hash: Buffer }
>(
  'audit_verify_part',
  (p) => sql`
  select part, last_at::text, last_id, leaves, hash from audit_parts
  where day = ${p.day}::date and part > ${p.after}::int order by part limit 1`,
);

/** The events after one key, up to and including another key, with their leaves, and whether their user was deleted. */
const selectEvents = statement<
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

const selectCutoff = statement<{ age: number }, { cutoff: string }>(
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

const minId = '00000000-0000-0000-0000-000000000000';
const maxId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const batchSize = 2000;

/**
 * Compares the audit events of all sealed days with the hash chain. Does not report events that expired, or values that
 * the deletion of a user erased.
 *
 * @param options.eventsAge milliseconds for which audit events are kept
 * @param options.anchors hashes of days that were stored elsewhere, in hex, by day
 */
export async function verifyAudit(
  database: Handle,
  { eventsAge, anchors }: { readonly eventsAge: number; readonly anchors: ReadonlyMap<string, string> },
): Promise<AuditReport> {
  const findings: AuditFinding[] = [];
  const report = (finding: AuditFinding) => findings.length < maxFindings && findings.push(finding);
  const [row] = await database.query(selectCutoff({ age: eventsAge }));
  const cutoff = row?.cutoff ?? '';
  const days = await database.query(selectDays({}));
  const sealed = new Map(days.map(({ day, hash }) => [day, hash.toString('hex')]));
  for (const [day, hash] of anchors) if (sealed.get(day) !== hash) report({ what: 'anchor', day });

  let count = 0;
  let hash: Buffer = Buffer.alloc(0);
  let from: EventKey = { at: '-infinity', id: minId };
  /** Compares the events after `from`, up to the key `to`, with leaves. */
  async function compare(day: string, to: EventKey, leaves: readonly Leaf[]): Promise<void> {
    const missing = new Map(leaves.map((leaf) => [leaf.id, leaf]));
    for (let isDone = false; !isDone; ) {
      const rows = await database.query(
        selectEvents({ afterAt: from.at, afterId: from.id, toAt: to.at, toId: to.id, limit: batchSize }),
      );
      for (const { leaf, at, id, is_erased: isErased } of rows) {
        const original = missing.get(id);
        missing.delete(id);
        if (original === undefined) report({ what: 'added', day, id });
        else if (!isSame(original, leaf, isErased)) report({ what: 'changed', day, id });
        from = { at, id };
        count += 1;
      }
      isDone = rows.length < batchSize;
    }
    from = to;
    // Expired events are deleted one by one, so some events of the oldest day may be deleted already.
    if (day > cutoff) for (const id of missing.keys()) report({ what: 'removed', day, id });
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
      const [next] = await database.query(selectPart({ day, after: part }));
      if (next === undefined) break;
      isIntact &&= next.part === part + 1 && chainHash(hash, next.leaves).equals(next.hash);
      ({ hash, part } = next);
      await compare(day, { at: next.last_at, id: next.last_id }, readLeaves(next.leaves));
    }
    if (!isIntact || !hash.equals(sealedHash)) report({ what: 'chain', day });
    await compare(day, end, []);
    from = end;
    hash = sealedHash;
  }
  const last = days.at(-1);
  return {
    days: days.length,
    events: count,
    findings,
    last: last && { day: last.day, events: Number(last.events), hash: last.hash.toString('hex') },
  };
}
