import { changeOf } from '../audit/changes.js';
import { type NewEvent, recordEvent } from '../audit/events.js';
import type { Challenge, ChallengeAnswer } from '../credentials/challenge.js';
import { endChallenges } from '../credentials/challenges.js';
import { normalizeCode } from '../credentials/codes.js';
import { addPasskey, defaultPasskeyName } from '../credentials/factors/passkeys.js';
import { replaceRecoveryCodes } from '../credentials/factors/recovery-codes.js';
import { newPasskeyChallenge, type RelyingParty } from '../credentials/factors/relying-party.js';
import { findStepOfNewSecret, newTotpSecret, saveTotp } from '../credentials/factors/totp.js';
import type { Database, Queryable } from '../database/database.js';
import type { AccountUser } from '../identities/accounts.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import { parseJsonObject } from '../lib/json-object.js';
import type { Notices } from '../messages/notices.js';
import { findEpochForUpdate } from '../users/queries.js';
import { lockUnchanged, type StepCheck } from './step-check.js';

export interface EnrolmentStepOptions {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly relyingParty: Pick<RelyingParty, 'creationOptions' | 'readRegistration'>;
  readonly notices: Pick<Notices, 'notify'>;
  /** The issuer that an app shows with its codes. */
  readonly issuer: string;
}

/** What the audit event of an enrolment contains in addition. */
type EnrolmentEvent = Pick<NewEvent, 'data' | 'changes'>;

/**
 * Creates the step in which a user enrols the second factor that the policy asks for.
 * @param mustEnrol whether the policy asks this user for a factor that the user does not have
 */
export function createEnrolmentStep(
  { database, keys, relyingParty, notices, issuer }: EnrolmentStepOptions,
  mustEnrol: (user: AccountUser) => boolean,
) {
  async function begin(user: AccountUser, lifetime: number): Promise<Challenge> {
    const { userId, username, email, phone } = user;
    const name = username ?? email ?? phone ?? userId;
    const { encrypted, secret, uri } = newTotpSecret(keys, userId, { issuer, account: name });
    const challenge = newPasskeyChallenge();
    const passkey = await relyingParty.creationOptions(challenge, { userId, name, displayName: name }, []);
    return {
      state: { awaits: 'enrolment', secret: encrypted.toString('base64'), challenge },
      lifetime,
      clientChallenge: {
        type: 'enrol',
        options: [
          { type: 'totp', secret, uri },
          { type: 'passkey', ...passkey },
        ],
      },
    };
  }

  /** Recognises the factor by its format, as the second factor does: six digits, or a credential as JSON. */
  async function check(user: AccountUser, { state, secret, origin }: ChallengeAnswer): Promise<StepCheck> {
    const { userId } = user;
    const enrol = (
      type: 'totp' | 'passkey',
      save: (tx: Queryable) => Promise<EnrolmentEvent | undefined>,
    ): StepCheck => ({
      isRight: true,
      secondFactor: type,
      async effect(tx) {
        if (!(await lockUnchanged(tx, user, mustEnrol))) return undefined;
        const event = await save(tx);
        if (event === undefined) return undefined;
        await endChallenges(tx, userId);
        await recordEvent(tx, { userId, type: `${type}.enrolled`, origin, ...event });
        await notices.notify(tx, { userId, kind: `${type}_added`, origin });
        return { recoveryCodes: await replaceRecoveryCodes(tx, keys, userId) };
      },
    });
    if (/^\d{6}$/.test(normalizeCode(secret))) {
      const encrypted = Buffer.from(state.secret ?? '', 'base64');
      const step = await findStepOfNewSecret(database.user(userId), keys, userId, { encrypted, code: secret });
      if (step === undefined) return { isRight: false };
      return enrol('totp', async (tx) => {
        await saveTotp(tx, userId, encrypted, step);
        return {};
      });
    }
    const challenge = state.challenge ?? newPasskeyChallenge();
    const credential = await relyingParty.readRegistration(parseJsonObject(secret), challenge);
    if (credential === undefined) return { isRight: false };
    return enrol('passkey', async (tx) => {
      const passkey = await addPasskey(tx, userId, defaultPasskeyName, credential);
      return passkey && { data: { passkey_id: passkey.id }, changes: changeOf('passkey', null, passkey.name) };
    });
  }

  /** The codes of the first answer cannot be shown again, so new ones replace them. */
  const repeatEffect =
    (userId: string): StepCheck['effect'] =>
    async (tx) => {
      await findEpochForUpdate(tx, userId);
      return { recoveryCodes: await replaceRecoveryCodes(tx, keys, userId) };
    };

  return { begin, check, repeatEffect };
}
