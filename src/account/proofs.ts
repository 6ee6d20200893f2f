import { recordEvent } from '../audit/events.js';
import type {
  Proof,
  ProofOption,
  ProofRequest,
  ProofStart,
  ProofType,
  StartedProof,
} from '../contract/account/proof.js';
import type { ChallengeAnswer, ChallengeState } from '../credentials/challenge.js';
import { countChallengeGuess, endChallenge, startChallenge } from '../credentials/challenges.js';
import { usedCode } from '../credentials/codes.js';
import type { PendingPins } from '../credentials/pins/pending-pin.js';
import type { Database, Queryable } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import { type AccountUser, getAccount } from '../identities/accounts.js';
import { maskAddress } from '../identities/identity.js';
import { newId, parseId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { choiceError, type FieldError, Problem, type ProblemOptions, throwIfErrors } from '../lib/problem.js';
import type { GuessBudget } from '../limits/guess-budget.js';
import type { RequestLimits } from '../limits/request-limits.js';
import type { MethodOfProof } from '../sessions/amr.js';
import { validSession } from '../sessions/sessions.js';
import { findEpochForUpdate } from '../users/queries.js';
import type { AddressType, CodeSender, CountedCode } from './code-sender.js';
import { proofOptions } from './proof-options.js';

/**
 * A method of re-authentication. Like an authenticator, it only checks secrets. The core handles limits, the guess
 * budget and challenges, and checks that a proof is still valid when it is used.
 */
export type ProofMethod = OneStepProof | TwoStepProof;

/** A method that the secret alone verifies. */
export interface OneStepProof {
  readonly type: ProofType;
  readonly steps: 1;
  /**
   * Must not throw for a wrong secret, nor if the user does not have this method.
   * @returns `used_code` for a right code that was used before
   */
  verify(user: AccountUser, secret: string, origin: Origin): Promise<boolean | 'used_code'>;
}

/** A method that a separate request starts. That request stores a state, which verifies the proof. */
export interface TwoStepProof {
  readonly type: ProofType;
  readonly steps: 2;
  /** The names of the method in `POST /v1/account/proofs`. A code has two: `sms` and `email`. */
  readonly starts: readonly ProofStart[];
  /**
   * @returns undefined if the user does not have this method
   * @throws Problem if the request lacks what the method needs
   */
  begin(user: AccountUser, request: ProofRequest, id: string): Promise<ProofChallenge | undefined>;
  verify(user: AccountUser, answer: ChallengeAnswer): Promise<boolean>;
}

export interface ProofChallenge {
  readonly state: ChallengeState;
  /** Seconds. */
  readonly lifetime: number;
  /** Sent to the client, which needs it to answer. */
  readonly challenge?: Readonly<Record<string, unknown>>;
  /** A code to send to an address of the user. */
  readonly message?: CodeToAddress;
}

interface CodeToAddress {
  readonly type: AddressType;
  readonly to: string;
  readonly code: string;
  /** See `CodeMessage`. */
  readonly isDropped: boolean;
}

/** The session that calls a route of self-service. */
export interface CallingSession {
  readonly userId: string;
  readonly sessionId: string;
  readonly deviceId: string;
  readonly origin: Origin;
}

/** A correct proof. It can be used once, for the changes of one transaction. */
export interface VerifiedProof {
  readonly type: AcceptedProof;
  /** The proof that was used. For a code, also its channel. Undefined for a guest, and if the login is the proof. */
  readonly method: MethodOfProof | undefined;
  /**
   * Call it first in the transaction. It locks the user's row. Then it checks that the proof was not used before, that the session is still
   * valid, and that the password has not changed since the proof.
   * @throws Problem `proof_rejected`, `invalid_session_token`
   */
  consume(tx: Queryable): Promise<void>;
}

export interface Proofs {
  /**
   * Starts a proof that needs a challenge.
   * @throws Problem `validation_failed` if the user does not have this method or may not use it; `too_many_requests`
   */
  begin(callingSession: CallingSession, request: ProofRequest): Promise<StartedProof>;
  /**
   * Verifies a proof within the account's guess budget (the wrong secrets that the account allows, see `GuessBudget`).
   * @param allowed the accepted types. If the user has a second factor, only a code of the app, a recovery code and a passkey are accepted.
   * If `allowed` contains only the PIN, only the PIN is accepted, even if the user has a second factor.
   * @param current with it, an account that has a password also needs this password, unless the proof is the password
   * @throws Problem `validation_failed`, `proof_rejected`, `account_locked`, `account_temporarily_locked`, `too_many_requests`
   */
  check(
    callingSession: CallingSession,
    proof: Proof | undefined,
    allowed: AllowedProofs,
    current?: CurrentPassword,
  ): Promise<VerifiedProof>;
  /** Lists the proofs of the user, and what they are accepted for now. It sends and counts nothing. */
  options(userId: string): Promise<readonly ProofOption[]>;
}

/** The password that the caller says the account has now. */
export interface CurrentPassword {
  readonly password: string | undefined;
}

/** The accepted types of proof for an action. See `check` for users with a second factor. */
export type AllowedProofs = (user: AccountUser) => readonly AcceptedProof[];
/**
 * A type of proof. `none`: the user is a guest, who has nothing to prove. `login`: the login of the session is the proof, see
 * `LoginAsProof`.
 */
export type AcceptedProof = ProofType | 'none' | 'login';

/**
 * Whether the login of a session counts as a proof by itself. It must be at most 10 minutes old and made at a provider that cannot prove
 * presence, and the user has no account at a provider that can.
 */
export type LoginAsProof = (
  handle: Queryable,
  callingSession: Pick<CallingSession, 'userId' | 'sessionId'>,
) => Promise<boolean>;

export interface ProofsOptions {
  readonly database: Database;
  readonly guesses: GuessBudget;
  readonly limits: RequestLimits;
  readonly codes: CodeSender;
  readonly methods: readonly ProofMethod[];
  /** Whether the account has a second factor. */
  readonly hasSecondFactor: (user: AccountUser) => boolean;
  readonly nextPins: PendingPins;
  /** Whether this is the password of the account. */
  readonly hasPassword: (user: AccountUser, password: string, origin: Origin) => Promise<boolean>;
  /** The names of the providers with which the user can prove to be present. */
  readonly provingProviders: (user: AccountUser) => Promise<readonly string[]>;
  readonly loginAsProof: LoginAsProof;
}

/** The proofs for most changes: all except the PIN, which is too short. */
export const defaultProofs: AllowedProofs = () => ['password', 'code', 'passkey', 'provider'];

/** The proofs for a first credential, such as a mail address. A guest has no credential, and needs no proof. */
export const firstCredentialProofs: AllowedProofs = (user) => [
  ...defaultProofs(user),
  ...(user.isGuest ? (['none'] as const) : []),
];

/** Whether a user has no address (an unproven one counts) and no secret of Postern, so that only a provider can give a proof. */
export const hasOnlyProviders = (user: AccountUser): boolean =>
  ![user.email, user.phone, user.unproven.email, user.unproven.phone, user.passwordHash, user.pinHash].some(
    (one) => one !== undefined,
  ) &&
  !user.hasPasskey &&
  !user.hasTotp &&
  !user.isGuest;

/** The proofs for a new address. The login itself is enough for the first one of a user who can prove nothing (decision 54). */
export const addressProofs: AllowedProofs = (user) => [
  ...firstCredentialProofs(user),
  ...(hasOnlyProviders(user) ? (['login'] as const) : []),
];

/** The proofs that are a second factor (decision 15). */
const secondFactorProofs: readonly ProofType[] = ['totp', 'passkey'];

const readSession = statement<{ userId: string; sessionId: string }, { expires_at: string }>(
  'proof_session',
  (p) => sql`select valid.expires_at from (${validSession(p.userId, p.sessionId)}) valid`,
);

/** Creates the checks of proofs. `methods` contains at most one method of each type. */
export function createProofs(options: ProofsOptions): Proofs {
  const { database, codes, hasSecondFactor } = options;
  async function proofsOf(userId: string): Promise<readonly ProofOption[]> {
    const { user } = await getAccount(database.user(userId), userId);
    // The user was deactivated or deleted after the session was checked.
    if (user === undefined) throw new Problem('invalid_session_token');
    const providers = await options.provingProviders(user);
    return proofOptions(user, { hasSecondFactor, supports: codes.supports, providers });
  }

  return { begin: createProofStart(options), check: createProofCheck(options), options: proofsOf };
}

/** Reads the user of a session, after the limits of requests for proofs. */
async function countAndGetUser(
  { database, limits, nextPins }: ProofsOptions,
  { userId, deviceId, origin }: CallingSession,
): Promise<AccountUser> {
  await limits.countLoginByAddress(origin.clientAddress);
  await limits.countLoginByAccount(userId, deviceId);
  const { user } = await getAccount(database.user(userId), userId);
  // The user was deactivated or deleted after the session was checked.
  if (user === undefined) throw new Problem('invalid_session_token');
  if (user.nextPinIsDue) {
    // Applying the PIN ends every login, including this one.
    await nextPins.apply(userId);
    throw new Problem('invalid_session_token');
  }
  return user;
}

/** Creates `Proofs.begin`. */
function createProofStart(options: ProofsOptions): Proofs['begin'] {
  const { database, codes, methods, hasSecondFactor } = options;

  async function begin(callingSession: CallingSession, request: ProofRequest): Promise<StartedProof> {
    const { userId, deviceId, origin } = callingSession;
    const { type: start } = request;
    const user = await countAndGetUser(options, callingSession);
    // If the user has a second factor, a code is not accepted, so Postern sends none.
    const isAccepted = ({ type }: ProofMethod) => !hasSecondFactor(user) || secondFactorProofs.includes(type);
    const method = methods.find(
      (one): one is TwoStepProof => one.steps === 2 && one.starts.includes(start) && isAccepted(one),
    );
    const id = newId();
    const proofChallenge = await method?.begin(user, request, id);
    if (method === undefined || proofChallenge === undefined) {
      throw new Problem('validation_failed', { errors: [{ field: 'type', code: 'not_supported' }] });
    }
    const { state, lifetime, challenge, message } = proofChallenge;
    const challengeState = { ...state, type: method.type };
    const counted = message === undefined ? undefined : await countCodeRequest(callingSession, message);
    const { expires_at } = await database.user(userId).transaction(async (tx) => {
      await lockCallingSession(tx, callingSession);
      const started = await startChallenge(tx, {
        userId,
        id,
        purpose: 'proof',
        state: challengeState,
        lifetime,
        deviceId,
      });
      if (message !== undefined) {
        const { type, code, isDropped } = message;
        const recipient = isDropped ? undefined : counted?.recipient;
        await codes.send(tx, { userId, type, kind: 'proof_code', recipient, code });
      }
      await recordEvent(tx, { userId, type: 'proof.started', origin, data: { proof: start, device_id: deviceId } });
      return started;
    });
    const sentCode = message && counted && { destination: maskOf(message), resend_at: counted.resendAt };
    return { id, type: method.type, ...(challenge && { challenge }), ...sentCode, expires_at };
  }

  async function countCodeRequest(
    { userId, deviceId, origin }: CallingSession,
    { type, to }: NonNullable<ProofChallenge['message']>,
  ): Promise<CountedCode> {
    const address = { type, canonical: to };
    return codes.countRequest({
      userId,
      address,
      recipient: to,
      knownDevice: deviceId,
      clientAddress: origin.clientAddress,
    });
  }

  return begin;
}

/** Creates `Proofs.check`. */
function createProofCheck(options: ProofsOptions): Proofs['check'] {
  const { database, guesses, methods, hasSecondFactor, hasPassword, loginAsProof } = options;

  async function check(
    callingSession: CallingSession,
    proof: Proof | undefined,
    allowed: AllowedProofs,
    current?: CurrentPassword,
  ): Promise<VerifiedProof> {
    const { userId, deviceId, origin } = callingSession;
    const user = await countAndGetUser(options, callingSession);
    const accepted = acceptedTypes(user, allowed);
    if (proof === undefined && accepted.includes('none')) return provenBy('none', callingSession, user, allowed);
    if (
      proof === undefined &&
      accepted.includes('login') &&
      (await loginAsProof(database.user(userId), callingSession))
    ) {
      return provenBy('login', callingSession, user, allowed);
    }
    const { method, secret, id } = readProof(methods, proof, accepted);
    const needsPassword = current !== undefined && user.passwordHash !== undefined && method.type !== 'password';
    if (needsPassword && current.password === undefined) {
      throwIfErrors([{ field: 'current_password', code: 'required' }]);
    }
    const address = { userId, id, purpose: 'proof', deviceId } as const;
    const outcome: { result: boolean | 'used_code' | 'wrong_password'; state?: ChallengeState } = { result: false };
    const evaluate = async (): Promise<typeof outcome.result> => {
      // First, so that a mistyped password does not use up a code.
      if (needsPassword && !(await hasPassword(user, current.password ?? '', origin))) return 'wrong_password';
      if (method.steps === 1) return method.verify(user, secret, origin);
      const state = await countChallengeGuess(database.user(userId), address);
      // There is no challenge to guess at, so this is not counted as a wrong guess.
      if (state?.type !== method.type) throw new Problem('proof_rejected');
      outcome.state = state;
      return method.verify(user, { state, authenticationId: id, secret, origin });
    };
    const result = await guesses.guess({ userId, deviceId, knownDevice: deviceId, origin }, async () => {
      outcome.result = await evaluate();
      // A correct proof does not reset the budget: an attacker who knows one secret could then guess the other secrets
      // without limit.
      return outcome.result === true ? 'neutral' : 'wrong';
    });
    if (result === 'wrong') {
      const data = { proof: method.type, device_id: deviceId };
      await recordEvent(database.user(userId), { userId, type: 'proof.rejected', origin, data });
      const isPasswordChange = current !== undefined && user.passwordHash !== undefined;
      throw new Problem('proof_rejected', rejectionOf(outcome.result, isPasswordChange ? method.type : undefined));
    }
    const challenge = method.steps === 2 ? address : undefined;
    return {
      ...provenBy(method.type, callingSession, user, allowed, challenge),
      method: methodOf(method.type, outcome.state),
    };
  }

  function provenBy(
    type: AcceptedProof,
    callingSession: CallingSession,
    user: AccountUser,
    allowed: AllowedProofs,
    challenge?: { readonly userId: string; readonly id: string },
  ): VerifiedProof {
    return {
      type,
      method: undefined,
      async consume(tx) {
        await consumeProof(tx, callingSession, user, challenge);
        // Checks again while the user's row is locked, because a credential may have been added since the first check.
        const { user: now } = await getAccount(tx, user.userId);
        const acceptedNow = now && acceptedTypes(now, allowed);
        if (acceptedNow?.includes(type) !== true) throw new Problem('proof_rejected');
        if (type === 'login' && !(await loginAsProof(tx, callingSession))) throw new Problem('proof_rejected');
      },
    };
  }

  function acceptedTypes(user: AccountUser, allowed: AllowedProofs): readonly AcceptedProof[] {
    const types = allowed(user);
    // For a time after a proof with a code, only the PIN is allowed. A second factor is not accepted then, because somebody with
    // only a code may have enrolled it (decision 16).
    const onlyPin = types.every((type) => type === 'pin');
    return hasSecondFactor(user) && !onlyPin ? secondFactorProofs : types;
  }

  return check;
}

function methodOf(type: ProofType, state: ChallengeState | undefined): MethodOfProof {
  if (type !== 'code') return type;
  return state?.addressType === 'email' ? 'email' : 'sms';
}

/** @param type the type of the proof, if the request changes a password that the account has */
function rejectionOf(
  result: boolean | 'used_code' | 'wrong_password',
  type: ProofType | undefined,
): Pick<ProblemOptions, 'errors'> {
  if (result === 'used_code') return usedCode('proof.secret');
  const wrong = (field: string) => ({ errors: [{ field, code: 'password_wrong' as const }] });
  if (result === 'wrong_password') return wrong('current_password');
  return type === 'password' ? wrong('proof.secret') : {};
}

const maskOf = ({ type, to }: NonNullable<ProofChallenge['message']>) => maskAddress({ type, canonical: to });

/**
 * Locks the user's row and checks that the session is still valid.
 * @returns the user's epoch, the number whose increase ends every login of the user
 * @throws Problem `invalid_session_token`
 */
export async function lockCallingSession(tx: Queryable, { userId, sessionId }: CallingSession): Promise<number> {
  const epoch = await findEpochForUpdate(tx, userId);
  // A separate statement, so that it sees that a session was revoked while the first statement waited for the lock.
  const [session] = await tx.query(readSession({ userId, sessionId }));
  if (epoch === undefined || session === undefined) throw new Problem('invalid_session_token');
  return epoch;
}

/**
 * Ends a challenge of the calling session that was answered correctly. Call it first in the transaction of the action: it locks the user's
 * row and checks that the session is still valid.
 * @param rejected the error if a parallel answer has ended the challenge
 * @throws Problem `rejected`, `invalid_session_token`
 */
export async function completeChallenge(
  tx: Queryable,
  callingSession: CallingSession,
  id: string,
  rejected: 'proof_rejected' | 'code_rejected' | 'external_identity_rejected',
): Promise<void> {
  await lockCallingSession(tx, callingSession);
  if (!(await endChallenge(tx, { userId: callingSession.userId, id }))) throw new Problem(rejected);
}

async function consumeProof(
  tx: Queryable,
  callingSession: CallingSession,
  { epoch }: AccountUser,
  challenge: { readonly userId: string; readonly id: string } | undefined,
): Promise<void> {
  if ((await lockCallingSession(tx, callingSession)) !== epoch) throw new Problem('proof_rejected');
  if (challenge !== undefined && !(await endChallenge(tx, challenge))) throw new Problem('proof_rejected');
}

/** @throws Problem `validation_failed` */
function readProof(
  methods: readonly ProofMethod[],
  proof: Proof | undefined,
  allowed: readonly AcceptedProof[],
): { method: ProofMethod; secret: string; id: string } {
  if (proof === undefined) throw new Problem('validation_failed', { errors: [{ field: 'proof', code: 'required' }] });
  const acceptedMethods = methods.filter(({ type }) => allowed.includes(type));
  const method = acceptedMethods.find(({ type }) => type === proof.type);
  const id = proof.id === undefined ? undefined : parseId(proof.id);
  const errors: FieldError[] = [];
  if (method === undefined) {
    const types = acceptedMethods.map(({ type }) => type);
    errors.push(choiceError('proof.type', types));
  }
  if (method?.steps === 2 && id === undefined) errors.push({ field: 'proof.id', code: 'required' });
  throwIfErrors(errors);
  if (method === undefined) throw new Error('unreachable: the error was thrown above');
  return { method, secret: proof.secret, id: id ?? '' };
}
