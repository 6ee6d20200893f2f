import { directoryStatement, literal, type Statement, sql } from '../sql.js';
import { bucketOf } from './bucket.js';
import { usersOf } from './routing.js';

/**
 * Changes of one user run one after the other, because each locks the user's row. But the user's server commits, and frees
 * this lock, a moment before the directory commits. So each part in the directory takes an advisory lock of the user's
 * bucket in shared mode, and a later change waits for this lock before it reads the directory (decision 123).
 */
export interface UserOrder {
  /** Remembers the users of a statement that runs on another server than the directory. */
  note(statement: Statement): void;
  /** A statement to run before the next one on the directory, if there may have been earlier changes. */
  awaitEarlier(): Statement | undefined;
  /**
   * The text of a statement that takes the locks in shared mode, to run before the directory's part is prepared. Empty if
   * there are none.
   */
  shareLocks(): string;
}

/** The class of the advisory locks of buckets in the directory. */
const lockClass = 7_203_416;

/** Statements that lock the row of a user, or whose only work is to lock a row, such as that of the inbox. */
const locksUser = /\bfor (?:no key )?update$|\b(?:update|delete from) users\b/;

const lockAndUnlock = directoryStatement<{ buckets: readonly number[] }>(
  'user_order_await',
  (p) => sql`
    select pg_advisory_lock(${literal(lockClass)}, bucket), pg_advisory_unlock(${literal(lockClass)}, bucket)
    from unnest(${p.buckets}::int[]) bucket`,
);

/** @param home the user of the statements that name none */
export function createUserOrder(home: string | undefined): UserOrder {
  const buckets = new Set<number>();
  /**
   * The buckets of the users whose rows are locked. The statement that locked them may have waited for an earlier change.
   */
  const waited = new Set<number>();
  return {
    note(statement) {
      const { text, users } = statement;
      const isReadable = users === undefined || typeof users === 'string' || Array.isArray(users);
      const ids = (isReadable ? usersOf(statement) : undefined) ?? (home === undefined ? [] : [home]);
      const mayHaveWaited = ids.length === 1 && locksUser.test(text);
      for (const bucket of ids.map(bucketOf)) {
        buckets.add(bucket);
        if (mayHaveWaited) waited.add(bucket);
      }
    },
    awaitEarlier() {
      if (waited.size === 0) return undefined;
      const statement = lockAndUnlock({ buckets: [...waited] });
      waited.clear();
      return statement;
    },
    shareLocks() {
      if (buckets.size === 0) return '';
      const locks = [...buckets].map((bucket) => `pg_advisory_xact_lock_shared(${lockClass}, ${bucket})`);
      return `select ${locks.join(', ')}; `;
    },
  };
}
