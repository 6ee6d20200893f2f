import type { MessageChannel } from '../contract/administration.js';
import type { SentPasswordCode, User } from '../contract/user.js';
import { newLongCode } from '../credentials/codes.js';
import type { Database } from '../database/database.js';
import { maskAddress } from '../identities/identity.js';
import type { Origin } from '../lib/origin.js';
import { Problem, throwIfErrors } from '../lib/problem.js';
import type { Users } from '../users/users.js';
import type { CodeSender } from './code-sender.js';

/**
 * Codes with which a user sets a password, on request of an operator. The code is the user's password for one login, at which
 * the user chooses another. Only the user gets it, so no operator knows a password (ASVS 5.0, 6.4.1 and 6.4.6).
 */
export interface PasswordCodes {
  /**
   * Replaces the password by a code, sends the code to a proven address of the user, and ends every login.
   * @param requireRight throws if the caller may not change this user
   * @throws Problem `not_found`; `validation_failed` (`not_supported`) without such an address or a provider for it;
   *   `too_many_requests`
   */
  send(
    id: string,
    channel: MessageChannel,
    origin: Origin,
    requireRight: (user: User) => void,
  ): Promise<SentPasswordCode>;
}

export interface PasswordCodesOptions {
  readonly database: Database;
  readonly users: Pick<Users, 'get' | 'getForUpdate' | 'prepareChange' | 'change'>;
  readonly codes: CodeSender;
  /** PASSWORD_MIN: the code must keep to it. */
  readonly passwordMin: number;
}

/** Creates the codes that replace a password. */
export function createPasswordCodes({ database, users, codes, passwordMin }: PasswordCodesOptions): PasswordCodes {
  return {
    async send(id, channel, origin, requireRight) {
      const type = channel === 'sms' ? 'phone' : 'email';
      const user = await users.get(id);
      requireRight(user);
      const address = user[`${type}_verified`] ? user[type] : null;
      if (address === null || !codes.supports(type)) throwIfErrors([{ field: 'channel', code: 'not_supported' }]);
      const canonical = address ?? '';
      const counted = await codes.countRequest({
        userId: id,
        address: { type, canonical },
        recipient: canonical,
        knownDevice: undefined,
        clientAddress: null,
      });
      if (counted.recipient === undefined) throw new Problem('too_many_requests');
      const code = newPasswordCode(passwordMin);
      const prepared = await users.prepareChange(id, { password: code, must_change: true }, { client: null });
      await database.user(id).transaction(async (tx) => {
        const now = await users.getForUpdate(tx, id);
        requireRight(now);
        // The address was changed at the same time: its new owner gets no code.
        if (now[type] !== address || !now[`${type}_verified`]) {
          throwIfErrors([{ field: 'channel', code: 'not_supported' }]);
        }
        await users.change(tx, id, prepared, origin);
        await codes.send(tx, { userId: id, type, kind: 'password_code', recipient: counted.recipient, code });
      });
      return { channel, destination: maskAddress({ type, canonical }) };
    },
  };
}

function newPasswordCode(passwordMin: number): string {
  let code = newLongCode();
  while (code.length < passwordMin) code += `-${newLongCode()}`;
  return code;
}
