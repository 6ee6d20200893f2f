import type { Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';

/** The caller holds a lock on the user's row, so nobody can add a second factor during this statement. */
const cleanUp = statement<{ userId: string }>(
  'factors_end_without',
  (p) => sql`
    with without_factor as (
      select 1 from users u where u.id = ${p.userId} and not exists (select 1 from totp t where t.user_id = u.id)
        and not exists (select 1 from passkeys p where p.user_id = u.id)),
    codes as (delete from recovery_codes where user_id = ${p.userId} and exists (select 1 from without_factor))
    update users set role_active_since = null
    where id = ${p.userId} and role_active_since is not null and exists (select 1 from without_factor)`,
);

/**
 * Call it after a second factor was removed, with the user's row locked. If that was the last factor, it deletes the
 * recovery codes and deactivates the role. Otherwise an attacker with the first secret could enrol a factor and use the
 * role.
 */
export async function cleanUpAfterLastFactor(tx: Queryable, userId: string): Promise<void> {
  await tx.query(cleanUp({ userId }));
}
