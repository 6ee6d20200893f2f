import { changeOf } from '../../audit/changes.js';
import { recordEvent } from '../../audit/events.js';
import type { Queryable } from '../../database/database.js';
import type { Origin } from '../../lib/origin.js';
import type { Notices } from '../../messages/notices.js';
import { endChallenges } from '../challenges.js';
import { cleanUpAfterLastFactor } from './last-factor.js';
import { removePasskeys } from './passkeys.js';
import { removeTotp } from './totp.js';

/**
 * Removes a user's app, passkeys and recovery codes, and ends open challenges. Operators do this for users who lost them.
 * The caller holds a lock on the user's row.
 */
export async function removeSecondFactors(
  tx: Queryable,
  userId: string,
  origin: Origin,
  notices?: Pick<Notices, 'notify'>,
): Promise<void> {
  const totp = await removeTotp(tx, userId);
  const names = await removePasskeys(tx, userId, undefined);
  const passkeys = names.length;
  const changes = names.flatMap((name) => changeOf('passkey', name, null));
  await cleanUpAfterLastFactor(tx, userId);
  await endChallenges(tx, userId);
  await recordEvent(tx, { userId, type: 'second_factors.removed', origin, data: { totp, passkeys }, changes });
  if (totp) await notices?.notify(tx, { userId, kind: 'totp_removed', origin });
  if (passkeys > 0) await notices?.notify(tx, { userId, kind: 'passkey_removed', origin });
}
