import { timeText } from '../database/clock.js';
import type { Queryable } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import { type GuessAttempt, type GuessLimitValues, limitArguments } from './guess-budget.js';
import { bucketOfDevice } from './guess-locks.js';

/** The state of the guess budget that the next guess at an account would find. */
export interface GuessState {
  /** The result of an attempt to take a guess. `busy`: other requests evaluate all guesses that are left. */
  readonly attempt: GuessAttempt;
  /** When the lock began. Null if there is no lock. */
  readonly since: string | null;
  /** When the lock ends. Null if there is no lock, or if it is permanent. */
  readonly until: string | null;
  /** Wrong secrets since the last success, and locks since then. */
  readonly failures: number;
  readonly locks: number;
  /** How many more wrong secrets lock the account permanently; null: never. */
  readonly failuresToPermanent: number | null;
}

interface StateRow {
  readonly outcome: GuessAttempt['outcome'];
  readonly retry_after: number | null;
  readonly since: string | null;
  readonly until: string | null;
  readonly failures: number;
  readonly locks: number;
}

/**
 * Reads what `take_guess` would decide, without a lock and without a change. Like that function, it counts guesses that
 * were not settled within 15 seconds as wrong, and moves the times of the budget if the clock was set back.
 */
const readState = statement<{ userId: string; knownDevice: string | null } & GuessLimitValues, StateRow>(
  'guess_state',
  (p) => sql`
  select s.outcome, s.failures, s.locks,
         case when s.outcome = 'locked' then extract(epoch from s.locked_until - s.now)::float8 end as retry_after,
         case when s.outcome in ('locked', 'permanent') then ${timeText(sql`coalesce(s.locked_at, s.updated_at)`)} end as since,
         case when s.outcome = 'locked' then ${timeText(sql`s.locked_until`)} end as until
  from guess_budgets b
  cross join lateral (select db_now() as now) n
  cross join lateral (select greatest(b.updated_at - n.now, interval '0') as by) stepped
  cross join lateral (
    select count(*) filter (where t - stepped.by <= n.now - interval '15 seconds')::int as expired, count(*)::int as taken
    from unnest(b.slots_taken_at) t) slots
  cross join lateral (
    select (case when slots.expired > 0 then guess_failed(b, slots.expired, n.now, ${limitArguments(p)}) else b end).*) f
  cross join lateral (
    select n.now, f.total_failures as failures, f.locks, f.locked_at, f.updated_at, l.until as locked_until,
           case when f.permanent then 'permanent' when l.until > n.now then 'locked'
                when f.failures + slots.taken - slots.expired >= ${p.failureLimit} then 'busy' else 'taken' end as outcome
    from (select case when f.locks > b.locks then f.locked_until else f.locked_until - stepped.by end as until) l) s
  where b.user_id = ${p.userId} and b.bucket = ${bucketOfDevice(sql`${p.knownDevice}::uuid`)}`,
);

/** Reads the guess budget of an account for a device. @param knownDevice undefined: all unknown devices */
export async function readGuessState(
  handle: Queryable,
  account: { readonly userId: string; readonly knownDevice: string | undefined },
  limits: GuessLimitValues,
): Promise<GuessState> {
  const { userId, knownDevice = null } = account;
  const [row] = await handle.query(readState({ userId, knownDevice, ...limits }));
  const { failures = 0, locks = 0, since = null, until = null } = row ?? {};
  const { permanentLimit } = limits;
  return {
    attempt: attemptOf(row),
    since,
    until,
    failures,
    locks,
    failuresToPermanent: permanentLimit === 0 ? null : Math.max(0, permanentLimit - failures),
  };
}

function attemptOf(row: StateRow | undefined): GuessAttempt {
  if (row === undefined) return { outcome: 'taken', retry_after: null };
  const { outcome, retry_after } = row;
  return outcome === 'locked' ? { outcome, retry_after: retry_after ?? 0 } : { outcome, retry_after: null };
}
