import type { Queryable } from '../../database/database.js';
import type { Origin } from '../../lib/origin.js';
import { recordEvent } from '../events/events.js';
import type { Notices } from '../messages/notices.js';
import { endChallenges } from '../self-service/challenges.js';
import { endWithoutFactors } from './last-factor.js';
import { removePasskeys } from './passkeys.js';
import { removeTotp } from './totp.js';

/**
 * Removes a user's app, passkeys and recovery codes, and ends what was begun: an operator's act, for who has lost them.
 * The user's row must be held.
 */
export async function removeSecondFactors(
  tx: Queryable,
  userId: string,
  origin: Origin,
  notices?: Pick<Notices, 'notify'>,
): Promise<void> {
  const totp = await removeTotp(tx, userId);
  const passkeys = await removePasskeys(tx, userId, undefined);
  await endWithoutFactors(tx, userId);
  await endChallenges(tx, userId);
  await recordEvent(tx, { userId, type: 'second_factors.removed', origin, data: { totp, passkeys } });
  if (totp) await notices?.notify(tx, { userId, kind: 'totp_removed', origin });
  if (passkeys > 0) await notices?.notify(tx, { userId, kind: 'passkey_removed', origin });
}
