import type { User } from '../../contract/user.js';
import { timeText } from '../../database/clock.js';
import type { Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import {
  type AccountRow,
  type AccountUser,
  accountColumns,
  activeUser,
  nextPinIsDue,
} from '../../identities/accounts.js';
import { guessLocks } from '../../limits/guess-locks.js';

/** The user whose login is diagnosed. */
export interface DiagnosedUser {
  /** The user as a login sees it, also for a deactivated user. A recovered PIN that is due counts as the PIN. */
  readonly account: AccountUser;
  readonly isDeactivated: boolean;
  readonly isRoleActive: boolean;
  /** The lock that an operator has set, even if it has ended. */
  readonly lock: { readonly until: string | null; readonly reason: string | null };
  readonly guessLocks: User['guess_locks'];
  /** When a recovered PIN replaces the PIN; null if no recovered PIN waits. */
  readonly nextPinAt: string | null;
}

/** The account of a login: a user, or a placeholder id that nobody has. */
export interface Subject {
  readonly userId: string;
  readonly user: DiagnosedUser | undefined;
  readonly knownDevice: string | undefined;
  readonly now: string;
}

interface SubjectRow extends AccountRow {
  readonly known_device: string | null;
  readonly role_active: boolean | null;
  readonly lock_until: string | null;
  readonly lock_reason: string | null;
  readonly guess_locks: User['guess_locks'];
  readonly next_pin_hash: string | null;
  readonly pending_pin_at: string | null;
  readonly now: string;
}

const readRow = statement<{ userId: string; deviceId: string | null }, SubjectRow>(
  'diagnosis_subject',
  (p) => sql`
  select ${accountColumns}, d.id as known_device, u.role_active_since is not null as role_active, u.lock_reason,
         ${timeText(sql`u.locked_until`)} as lock_until, ${guessLocks} as guess_locks, u.next_pin_hash,
         case when not ${nextPinIsDue} then ${timeText(sql`u.next_pin_at`)} end as pending_pin_at,
         ${timeText(sql`db_now()`)} as now
  from (select ${p.userId}::uuid as id) a
  left join users u on u.id = a.id
  left join devices d on d.user_id = a.id and d.id = ${p.deviceId}::uuid`,
);

/** Reads the account of a login. It writes nothing: a recovered PIN that is due stays pending. */
export async function readSubject(handle: Queryable, userId: string, deviceId: string | undefined): Promise<Subject> {
  const [row] = await handle.query(readRow({ userId, deviceId: deviceId ?? null }));
  if (row === undefined) throw new Error('diagnosis_subject returned no row');
  return { userId, user: userOf(row), knownDevice: row.known_device ?? undefined, now: row.now };
}

function userOf(row: SubjectRow): DiagnosedUser | undefined {
  const pin_hash = row.next_pin_is_due ? row.next_pin_hash : row.pin_hash;
  const account = row.id === null ? undefined : activeUser({ ...row, pin_hash, status: 'active' });
  if (account === undefined) return undefined;
  return {
    account,
    isDeactivated: row.status !== 'active',
    isRoleActive: row.role_active === true,
    lock: { until: row.lock_kind === 'temporary' ? row.lock_until : null, reason: row.lock_reason },
    guessLocks: row.guess_locks,
    nextPinAt: row.pending_pin_at,
  };
}

const readLast = statement<{ userId: string; type: string }, { happened_at: string }>(
  'diagnosis_last_event',
  (p) => sql`
  select ${timeText(sql`e.created_at`)} as happened_at
  from (select type, created_at from events where user_id = ${p.userId} order by created_at desc limit 1000) e
  where e.type = ${p.type} order by e.created_at desc limit 1`,
);

/** When the last event of a type happened, among the last thousand events of the user; null if there is none. */
export async function lastEventAt(
  handle: Queryable,
  userId: string,
  type: 'user.locked' | 'user.deactivated',
): Promise<string | null> {
  const [row] = await handle.query(readLast({ userId, type }));
  return row?.happened_at ?? null;
}
