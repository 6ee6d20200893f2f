import type { Account, RegistrationAnswer, RegistrationRequest } from '../../contract/account.js';
import { prepared } from '../../database/database.js';
import { newId } from '../../lib/ids.js';
import type { Origin } from '../../lib/origin.js';
import { type FieldError, Problem, refuseFaults } from '../../lib/problem.js';
import { registrationId } from '../accounts.js';
import { recordEvent } from '../events/events.js';
import { identityDigest } from '../identities/identity-digest.js';
import { codeDigest, codeLifetime, newCode } from '../secrets/codes.js';
import { readIdentities, type UserRules, userFaults } from '../users/validation.js';
import { toAccount } from './account.js';
import { type BegunChallenge, beginChallenge, endChallenge } from './challenges.js';
import type { SessionlessOptions } from './sessionless-codes.js';

/** People who make an account for themselves, where the operator lets them: an address that is proven, and then the rest. */
export interface Registrations {
  /**
   * The same answer, rows and work whether or not somebody has the address already.
   * @throws Problem `registration_off`, `validation_failed`, `too_many_requests`
   */
  begin(request: RegistrationRequest, origin: Origin): Promise<BegunChallenge>;
  /**
   * Makes the account. Whoever has it logs in as usual.
   * @throws Problem `registration_off`, `code_rejected`, `validation_failed`, `identity_taken`,
   * `account_temporarily_locked`, `too_many_requests`
   */
  complete(id: string, answer: RegistrationAnswer, origin: Origin): Promise<Account>;
}

export interface RegistrationsOptions extends SessionlessOptions {
  readonly isOn: boolean;
}

const findTaken = prepared('registration_taken', 'select user_id from identities where digest = $1');
const findLocale = prepared('registration_locale', 'select locale from users where id = $1');

export function createRegistrations(options: RegistrationsOptions): Registrations {
  const { database, keys, users, limits, codes, sessionless, rules } = options;

  /** All rows and counts are those of an id that only registrations of the address have: no account is touched. */
  async function begin({ identity, locale }: RegistrationRequest, origin: Origin): Promise<BegunChallenge> {
    if (!options.isOn) throw new Problem('registration_off');
    const address = sessionless.readAddress(identity);
    const { type, canonical } = address;
    const userId = registrationId(keys, address);
    await limits.loginFrom(origin.address);
    await limits.loginTo(userId, undefined);
    const [taken] = await database.query<{ user_id: string }>(findTaken, [identityDigest(address)]);
    // Asked for an address that nobody has too, so that both take the same time.
    const [owner] = await database.query<{ locale: string | null }>(findLocale, [taken?.user_id ?? userId]);
    const asked = { userId, address, recipient: canonical, knownDevice: undefined, from: origin.address };
    const admitted = await codes.admit(asked);
    const id = newId();
    const code = newCode();
    return database.lane(userId).transaction(async (tx) => {
      const begun = await beginChallenge(tx, {
        ...{ userId, id, purpose: 'registration', lifetime: codeLifetime },
        kept: { code: codeDigest(keys, id, code), type, address: canonical },
      });
      const to = { recipient: admitted && canonical, turn: admitted?.turn };
      // Who has the address already is told that somebody tried, without a code.
      const message =
        taken === undefined
          ? ({ kind: 'registration_code', code, locale: locale ?? undefined } as const)
          : ({ kind: 'registration_taken', code: undefined, locale: owner?.locale ?? undefined } as const);
      await codes.send(tx, { userId, type, ...to, ...message });
      await recordEvent(tx, { userId, type: 'registration.started', origin, data: { field: type } });
      return begun;
    });
  }

  async function complete(id: string, answer: RegistrationAnswer, origin: Origin): Promise<Account> {
    if (!options.isOn) throw new Problem('registration_off');
    const { secret, username, password, pin, name, locale } = answer;
    const given = JSON.parse(JSON.stringify({ username, password, pin, name, locale }));
    await refuseFaulty(given, rules);
    const { userId, kept, ...checked } = await sessionless.check({
      ...{ purpose: 'registration', id, secret, origin, rejected: 'registration.rejected' },
    });
    const ready = await users.prepare({ ...given, [kept.type === 'email' ? 'email' : 'phone']: kept.address });
    const user = await database.lane(userId).transaction(async (tx) => {
      if (!(await endChallenge(tx, { userId, id: checked.id }))) throw new Problem('code_rejected');
      return users.create(tx, ready, origin);
    });
    return toAccount(user);
  }

  return { begin, complete };
}

/** Before the code is looked at: what is wrong with the rest must not cost a guess. */
async function refuseFaulty(given: Omit<RegistrationAnswer, 'secret'>, rules: UserRules): Promise<void> {
  const faults: FieldError[] = [];
  readIdentities(given, rules, faults);
  faults.push(...(await userFaults(given, rules)));
  refuseFaults(faults);
}
