import { recordEvent } from '../audit/events.js';
import type {
  SetUpCompletion,
  SetUpFactor,
  SetUpFactorRequest,
  SetUpLink,
  SetUpRole,
} from '../contract/console/set-up.js';
import type { NewUser } from '../contract/user.js';
import type { ChallengeState } from '../credentials/challenge.js';
import { countChallengeGuess, endChallenge, findChallengeOwner, startChallenge } from '../credentials/challenges.js';
import { addPasskey, defaultPasskeyName } from '../credentials/factors/passkeys.js';
import { replaceRecoveryCodes } from '../credentials/factors/recovery-codes.js';
import { newPasskeyChallenge, passkeyLifetime, type RelyingParty } from '../credentials/factors/relying-party.js';
import { findStepOfNewSecret, newTotpSecret, saveTotp } from '../credentials/factors/totp.js';
import type { Database, Queryable } from '../database/database.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import { newToken } from '../lib/crypto/token-strings.js';
import { newId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { type FieldError, Problem, throwIfErrors } from '../lib/problem.js';
import type { LoginPolicies } from '../limits/login-policies.js';
import { insertFirstAuthentication } from '../login/first-authentication.js';
import { describeDevice } from '../login/login-request.js';
import { readSetUpLink, useSetUpLink } from '../sessions/setup-links.js';
import { activateNewRole } from '../users/enrollment-links.js';
import { takenIdentities } from '../users/queries.js';
import type { Users } from '../users/users.js';
import { checkNewUser, type Identities, identitiesToSet, type UserRules } from '../users/validation.js';

/** A person creates their own account with a role, through a set-up link (decision 17). */
export interface OperatorSetUp {
  /** @throws Problem `setup_link_unknown`, `setup_link_used`, `setup_link_expired` */
  describe(secret: string): Promise<SetUpLink>;
  /**
   * Checks the details and starts the enrolment of a factor. It can be repeated while the link is valid.
   * @throws Problem those of `describe`; `validation_failed`, `identity_taken`
   */
  begin(request: SetUpFactorRequest): Promise<SetUpFactor>;
  /**
   * Creates the user with its factor and role, logs it in, and uses the link: all in one transaction.
   * @returns an authentication token whose login used the factor, and recovery codes
   * @throws Problem those of `begin`; `proof_rejected`
   */
  complete(request: SetUpCompletion, origin: Origin): Promise<CompletedSetUp>;
}

export interface CompletedSetUp {
  readonly token: string;
  readonly recoveryCodes: readonly string[];
}

export interface OperatorSetUpOptions {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly relyingParty: RelyingParty;
  readonly users: Users;
  readonly rules: UserRules;
  /** The name of the service: the issuer that an authenticator app shows. */
  readonly appName: string;
  /** Lifetime of an authentication token, in milliseconds. */
  readonly policies: LoginPolicies;
}

type Details = Omit<SetUpFactorRequest, 'secret' | 'factor'>;

/** Stores a confirmed factor of a new user. */
interface ConfirmedFactor {
  readonly type: 'totp' | 'passkey';
  save(tx: Queryable): Promise<void>;
}

/** Seconds to scan the QR code and enter a code. */
const totpLifetimeSeconds = 600;

/** Creates the set-up of operators with links that `postern operators invite` and the first start print. */
export function createOperatorSetUp(options: OperatorSetUpOptions): OperatorSetUp {
  const { database, keys, relyingParty, users, rules, appName } = options;

  async function begin(request: SetUpFactorRequest): Promise<SetUpFactor> {
    const { secret, factor, ...details } = request;
    const link = await readSetUpLink(database, secret);
    const { identities, errors } = await checkNewUser(newUserOf(details, link.role), rules);
    throwIfErrors(errors);
    await refuseTaken(identities);
    const userId = newId();
    const account = details.username ?? details.email ?? '';
    const start = (state: ChallengeState, lifetime: number) =>
      startChallenge(database.user(userId), {
        userId,
        id: newId(),
        purpose: 'setup',
        lifetime,
        state: { ...state, link: link.id },
      });
    if (factor === 'totp') {
      const { encrypted, ...totp } = newTotpSecret(keys, userId, { issuer: appName, account });
      return { ...(await start({ secret: encrypted.toString('base64') }, totpLifetimeSeconds)), totp };
    }
    const challenge = newPasskeyChallenge();
    const owner = { userId, name: account, displayName: details.name };
    const creation = await relyingParty.creationOptions(challenge, owner, []);
    return { ...(await start({ challenge }, passkeyLifetime)), passkey: { options: { ...creation } } };
  }

  /** Reports a taken identity before the person scans a QR code. The transaction of `complete` decides. */
  async function refuseTaken(identities: Identities): Promise<void> {
    const takenTypes = await takenIdentities(database, identitiesToSet(identities));
    const errors = takenTypes.map((field): FieldError => ({ field, code: 'identity_taken' }));
    if (errors.length > 0) throw new Problem('identity_taken', { errors });
  }

  async function complete(request: SetUpCompletion, origin: Origin): Promise<CompletedSetUp> {
    const { secret, factor_id, code, response, device = {}, ...details } = request;
    const link = await readSetUpLink(database, secret);
    throwIfErrors(answerErrors(request));
    const owner = await findChallengeOwner(database, factor_id.toLowerCase());
    if (owner === undefined) throw new Problem('proof_rejected');
    const { userId } = owner;
    // This check comes before the guess, so that a mistake in the form uses no guess.
    const prepared = await users.prepare(newUserOf(details, link.role), userId, { client: origin });
    const challengeKey = { userId, id: factor_id.toLowerCase(), purpose: 'setup' } as const;
    const state = await countChallengeGuess(database.user(userId), challengeKey);
    if (state === undefined || state.link !== link.id) throw new Problem('proof_rejected');
    const factor =
      code === undefined ? await confirmPasskey(userId, state, response) : await confirmTotp(userId, state, code);
    const id = newId();
    const { token, digest: tokenDigest } = newToken('authentication', [userId, id]);
    const recoveryCodes = await database.user(userId).transaction(async (tx) => {
      // This comes first. Of several parallel completions, one continues. The others wait here and hold no other lock.
      await useSetUpLink(tx, secret, userId);
      if (!(await endChallenge(tx, challengeKey))) throw new Problem('proof_rejected');
      await users.create(tx, prepared, origin);
      await factor.save(tx);
      await recordEvent(tx, { userId, type: `${factor.type}.enrolled`, origin });
      await activateNewRole(tx, userId, link.id, origin);
      const { policies } = options;
      const proven = { authenticator: 'password', keyThumbprint: null, secondFactor: factor.type };
      const login = { userId, id, device: describeDevice(device), ...proven, tokenDigest, policies };
      await insertFirstAuthentication(tx, login, origin);
      return replaceRecoveryCodes(tx, keys, userId);
    });
    return { token, recoveryCodes };
  }

  async function confirmTotp(userId: string, state: ChallengeState, code: string): Promise<ConfirmedFactor> {
    if (state.secret === undefined) throw new Problem('proof_rejected');
    const encrypted = Buffer.from(state.secret, 'base64');
    const step = await findStepOfNewSecret(database.user(userId), keys, userId, { encrypted, code });
    if (step === undefined) throw new Problem('proof_rejected');
    return { type: 'totp', save: (tx) => saveTotp(tx, userId, encrypted, step) };
  }

  async function confirmPasskey(userId: string, state: ChallengeState, response: unknown): Promise<ConfirmedFactor> {
    const { challenge } = state;
    const credential = challenge && (await relyingParty.readRegistration(response, challenge));
    if (!credential) throw new Problem('proof_rejected');
    return {
      type: 'passkey',
      async save(tx) {
        await addPasskey(tx, userId, defaultPasskeyName, credential);
      },
    };
  }

  return {
    async describe(secret) {
      const { role, expires_at } = await readSetUpLink(database, secret);
      return { role, expires_at, app_name: appName, password_min: rules.passwordMin };
    },
    begin,
    complete,
  };
}

/** Members that the request does not have stay absent. */
function newUserOf({ name, username, email, password, locale }: Details, role: SetUpRole): NewUser {
  return {
    name,
    password,
    role,
    ...(username !== undefined && { username }),
    ...(email !== undefined && { email }),
    ...(locale !== undefined && { locale }),
  };
}

function answerErrors({ code, response }: SetUpCompletion): FieldError[] {
  if (code === undefined && response === undefined) return [{ field: 'code', code: 'required' }];
  if (code === undefined || response === undefined) return [];
  return [{ field: 'response', code: 'conflicting_fields', params: { fields: 'code, response' } }];
}
