import { recordEvent } from '../audit/events.js';
import type { Account } from '../contract/account/account.js';
import type { CheckedCode, SentCode } from '../contract/account/code.js';
import type { PasskeyOptions, RegistrationAnswer, RegistrationRequest } from '../contract/account/registration.js';
import { endChallenge, startChallenge } from '../credentials/challenges.js';
import { codeDigest, codeLifetime, newCode } from '../credentials/codes.js';
import type { RelyingParty } from '../credentials/factors/relying-party.js';
import type { Transaction } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import { derivedRegistrationId, getAccount } from '../identities/accounts.js';
import { identityDigest } from '../identities/identity.js';
import { newId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { type FieldError, Problem, throwIfErrors } from '../lib/problem.js';
import type { LoginPolicies } from '../limits/login-policies.js';
import { insertOpenAuthentication } from '../login/authentications.js';
import { type LoginResult, withChallenge } from '../login/completion.js';
import { type FirstAuthentication, logInFirst } from '../login/first-authentication.js';
import { describeDevice, readKey } from '../login/login-request.js';
import type { LoginSteps } from '../login/login-steps.js';
import { readIdentities, type UserRules, userErrors } from '../users/validation.js';
import { toAccount } from './account.js';
import { sentCode } from './code-sender.js';
import { createRegistrationPasskeys, enrolPasskey, newPasskeyState } from './registration-passkeys.js';
import type { SessionlessDependencies } from './sessionless-codes.js';

/** Self-registration, if the operator allows it: a code proves the address, then the account is created. */
export interface Registrations {
  /**
   * Response, rows and work are the same whether or not an account has the address already. The same request again sends
   * another code.
   * @throws Problem `registration_off`, `validation_failed`, `too_many_requests`
   */
  begin(request: RegistrationRequest, origin: Origin): Promise<SentCode>;
  /**
   * Creates the account and, with `device`, its first login. Otherwise the user then logs in as usual. With `check`, it only
   * says that the code is correct. With `passkey: 'begin'`, it answers with the options for a passkey.
   * @throws Problem `registration_off`, `code_rejected`, `validation_failed`, `identity_taken`,
   *   `account_temporarily_locked`, `too_many_requests`
   */
  complete(
    id: string,
    answer: RegistrationAnswer,
    origin: Origin,
  ): Promise<Registration | PasskeyOptions | CheckedCode>;
}

/** A new account, and its first login. */
export interface Registration {
  readonly account: Account;
  readonly authentication: LoginResult | undefined;
}

export interface RegistrationsOptions extends SessionlessDependencies {
  readonly isOn: boolean;
  /** The lifetime of an authentication token. */
  readonly policies: LoginPolicies;
  readonly relyingParty: Pick<RelyingParty, 'creationOptions' | 'readRegistration'>;
  /** The first login goes through them, as every login does. */
  readonly steps: Pick<LoginSteps, 'next' | 'begin'>;
}

const findOwner = statement<{ digest: Buffer }, { user_id: string }>(
  'registration_taken',
  (p) => sql`select user_id from identities where digest = ${p.digest}`,
);
const findRegistered = statement<{ userId: string }, { locale: string | null; email: boolean; phone: boolean }>(
  'registration_user',
  (p) => sql`
    select locale, email_verified as email, phone_verified as phone from users where id = ${p.userId}`,
);

/** Creates registrations. With `isOn` false, each call is refused with `registration_off`. */
export function createRegistrations(options: RegistrationsOptions): Registrations {
  const { database, keys, users, limits, codes, sessionless, rules, humanCheck } = options;
  const passkeys = createRegistrationPasskeys(options.relyingParty);

  /** Rows and counts belong to an id that only registrations of this address use. No account is changed. */
  async function begin(request: RegistrationRequest, origin: Origin): Promise<SentCode> {
    const { identity, locale, human_check: token } = request;
    if (!options.isOn) throw new Problem('registration_off');
    const address = sessionless.readAddress(identity);
    const { type, canonical } = address;
    const userId = derivedRegistrationId(keys, address);
    const { clientAddress } = origin;
    const named = { ...address, digest: identityDigest(address) };
    const sendsSms = type === 'phone';
    await humanCheck?.pass({ purpose: 'registration', token, identity: named, sendsSms, clientAddress });
    await limits.countLoginByAddress(clientAddress);
    await limits.countLoginByAccount(userId, undefined);
    const [owner] = await database.query(findOwner({ digest: named.digest }));
    // Runs for an address without an account too, so that both take the same time.
    const [user] = await database.query(findRegistered({ userId: owner?.user_id ?? userId }));
    const asked = { userId, address, recipient: canonical, knownDevice: undefined, clientAddress };
    const counted = await codes.countRequest(asked);
    const id = newId();
    const code = newCode();
    const state = { code: codeDigest(keys, id, code), type, address: canonical, ...newPasskeyState() };
    return database.user(userId).transaction(async (tx) => {
      const challenge = await startChallenge(tx, {
        userId,
        id,
        purpose: 'registration',
        lifetime: codeLifetime,
        state,
      });
      // If the address belongs to a user, this user gets a notice of the attempt instead of a code.
      const message =
        owner === undefined
          ? ({ kind: 'registration_code', code, locale: locale ?? undefined } as const)
          : ({
              // Nobody has proven the address, so its owner can only recover the account.
              kind: user?.[type] === false ? 'registration_unproven' : 'registration_taken',
              code: undefined,
              locale: user?.locale ?? undefined,
            } as const);
      const { recipient, recentCodes } = counted;
      await codes.send(tx, { userId, type, recipient, recentCodes, ...message });
      await recordEvent(tx, { userId, type: 'registration.started', origin, data: { field: type } });
      return sentCode(challenge, address, counted);
    });
  }

  async function complete(
    id: string,
    answer: RegistrationAnswer,
    origin: Origin,
  ): Promise<Registration | PasskeyOptions | CheckedCode> {
    if (!options.isOn) throw new Problem('registration_off');
    const { secret, username, password, pin, name, locale, device, passkey } = answer;
    const fields = JSON.parse(JSON.stringify({ username, password, pin, name, locale }));
    const errors: FieldError[] = [];
    const keyThumbprint = (device && readKey(device, errors)) ?? null;
    await refuseInvalid(fields, rules, errors);
    const check = { purpose: 'registration', id, secret, origin, rejectedEvent: 'registration.rejected' } as const;
    const { userId, state, expiresAt, ...checked } = await sessionless.check(check);
    if (answer.check === true) return { expires_at: expiresAt };
    if (passkey === 'begin') return { options: { ...(await passkeys.options(state, answer)) }, expires_at: expiresAt };
    const credential = passkey && (await passkeys.read(state, passkey));
    const input = { ...fields, [state.type === 'email' ? 'email' : 'phone']: state.address };
    const prepared = await users.prepare(input, state.user, { client: origin });
    return database.user(userId).transaction(async (tx) => {
      if (!(await endChallenge(tx, { userId, id: checked.id }))) throw new Problem('code_rejected');
      const created = await users.create(tx, prepared, origin);
      // Both events are recorded now, because they concern the new user. Before, there was only the id that is derived
      // from the address.
      await recordEvent(tx, { userId: created.id, type: 'identity.verified', origin, data: { field: state.type } });
      await recordEvent(tx, { userId: created.id, type: 'registration.completed', origin });
      if (credential !== undefined) await enrolPasskey(tx, created.id, credential, origin);
      const account = toAccount(credential === undefined ? created : await users.getForUpdate(tx, created.id));
      if (device === undefined) return { account, authentication: undefined };
      const authenticator = state.type === 'email' ? 'email' : 'sms';
      const secondFactor = credential === undefined ? null : ('passkey' as const);
      const login = { authenticator, keyThumbprint, device: describeDevice(device), secondFactor };
      return { account, authentication: await logIn(options, tx, { ...login, userId: created.id, origin }) };
    });
  }

  return { begin, complete };
}

/** The code is the secret of the first login. If the policy asks for a second factor, the login goes on with its enrolment. */
async function logIn(
  { steps, policies }: Pick<RegistrationsOptions, 'steps' | 'policies'>,
  tx: Transaction,
  login: Pick<FirstAuthentication, 'userId' | 'authenticator' | 'keyThumbprint' | 'device' | 'secondFactor'> & {
    readonly origin: Origin;
  },
): Promise<LoginResult> {
  const id = newId();
  const { origin, ...first } = login;
  const { userId } = first;
  const { user } = await getAccount(tx, userId);
  const next = user && login.secondFactor === null && steps.next(user, { ...login, id }, 'first');
  if (user && next) {
    const challenge = await steps.begin(next, user, { ...login, id });
    const { epoch } = user;
    const keyThumbprint = login.keyThumbprint ?? undefined;
    const waiting = { ...login, id, epoch, keyThumbprint, knownDevice: undefined };
    const record = await insertOpenAuthentication(tx, waiting, challenge, { factor: 2, pinRefused: false });
    return withChallenge(record, challenge);
  }
  return logInFirst(tx, { ...first, policies }, origin);
}

/** Runs before the code is checked, so that a validation error does not use a guess. */
async function refuseInvalid(
  fields: Omit<RegistrationAnswer, 'secret' | 'device' | 'check' | 'passkey'>,
  rules: UserRules,
  errors: FieldError[],
): Promise<void> {
  readIdentities(fields, rules, errors);
  errors.push(...(await userErrors(fields, rules)));
  throwIfErrors(errors);
}
