import { prepared, type Queryable } from '../../database/database.js';

const endWithout = prepared(
  'factors_end_without',
  `with bare as (
     select 1 from users u where u.id = $1 and not exists (select 1 from totp t where t.user_id = u.id)
       and not exists (select 1 from passkeys p where p.user_id = u.id)),
   codes as (delete from recovery_codes where user_id = $1 and exists (select 1 from bare))
   update users set role_active_since = null
   where id = $1 and role_active_since is not null and exists (select 1 from bare)`,
);

/**
 * After a second factor was removed: with the last one go the recovery codes, which have nothing left to stand in for, and
 * the effect of a role, for whoever has the first secret could enrol the next factor. The user's row must be held.
 */
export async function endWithoutFactors(tx: Queryable, userId: string): Promise<void> {
  await tx.query(endWithout, [userId]);
}
