import type { Proof, ProofStart, ProofType, StartedProof } from '../../contract/account.js';
import { type Database, prepared, type Queryable } from '../../database/database.js';
import { newId, parseId } from '../../lib/ids.js';
import type { Origin } from '../../lib/origin.js';
import { choiceFault, type FieldError, Problem, refuseFaults } from '../../lib/problem.js';
import { type AccountUser, getAccount } from '../accounts.js';
import type { ChallengeAnswer, ChallengeState } from '../authenticators/authenticator.js';
import { recordEvent } from '../events/events.js';
import type { GuessBudget } from '../guess-budget.js';
import type { RequestLimits } from '../request-limits.js';
import type { NextPins } from '../secrets/next-pin.js';
import { heldSession } from '../sessions.js';
import { holdUserEpoch } from '../users/queries.js';
import { beginChallenge, endChallenge, takeChallengeGuess } from './challenges.js';
import type { AddressType, CodeSending } from './code-sending.js';

/**
 * A way of showing afresh who one is: a plug-in, as authenticators are. The core does the rest: limits, the budget of
 * guesses, challenges and their ends, and that what was proven still holds when something comes of it.
 */
export type ProofMethod = InstantProof | BegunProof;

/** Decided from the secret alone. */
export interface InstantProof {
  readonly type: ProofType;
  readonly steps: 1;
  /** Must not throw for a wrong secret, nor when the user has nothing of the kind. */
  verify(user: AccountUser, secret: string, origin: Origin): Promise<boolean>;
}

/** Begun by a request of its own, and decided from what that one kept. */
export interface BegunProof {
  readonly type: ProofType;
  readonly steps: 2;
  /** What `POST /v1/account/proofs` calls it; a code can go two ways. */
  readonly starts: readonly ProofStart[];
  /** @returns undefined when the user has nothing of the kind. */
  begin(user: AccountUser, start: ProofStart, id: string): Promise<ProofChallenge | undefined>;
  verify(user: AccountUser, answer: ChallengeAnswer): Promise<boolean>;
}

export interface ProofChallenge {
  readonly kept: ChallengeState;
  /** Seconds. */
  readonly lifetime: number;
  /** What the client needs to answer. */
  readonly challenge?: Readonly<Record<string, unknown>>;
  /** A code that is to be sent to an address of the user's own. */
  readonly message?: { readonly type: AddressType; readonly to: string; readonly code: string };
}

/** The session that asks. */
export interface Prover {
  readonly userId: string;
  readonly sessionId: string;
  readonly deviceId: string;
  readonly origin: Origin;
}

/** A proof that was right. It counts once, for what is done in one transaction. */
export interface Proven {
  readonly type: ProofType;
  /**
   * Locks the user's row, and makes sure that nothing has overtaken the proof: it was not used already, the session still
   * holds, and no password was changed meanwhile. The first thing in the transaction.
   * @throws Problem `proof_rejected`, `invalid_session_token`
   */
  use(tx: Queryable): Promise<void>;
}

export interface Proofs {
  /**
   * Begins a proof that needs a challenge.
   * @throws Problem `validation_failed` when the user has nothing of the kind or it would not count, `too_many_requests`
   */
  begin(prover: Prover, start: ProofStart): Promise<StartedProof>;
  /**
   * Evaluates a proof within the account's budget of guesses.
   * @param allowed the types that count here. Where there is a second factor, a proof includes it: only a code of the app,
   * a recovery code and a passkey count. If `allowed` names only the PIN, only the PIN counts in any case.
   * @throws Problem `validation_failed`, `proof_rejected`, `account_locked`, `account_temporarily_locked`, `too_many_requests`
   */
  check(prover: Prover, proof: Proof | undefined, allowed: AllowedProofs): Promise<Proven>;
}

/** The types of proof that count for something. With a second factor, these are others, except where only the PIN counts. */
export type AllowedProofs = (user: AccountUser) => readonly ProofType[];

export interface ProofsOptions {
  readonly database: Database;
  readonly guesses: GuessBudget;
  readonly limits: RequestLimits;
  readonly codes: CodeSending;
  readonly methods: readonly ProofMethod[];
  /** Whether more than the first secret stands before this account. */
  readonly hasSecondFactor: (user: AccountUser) => boolean;
  readonly nextPins: NextPins;
}

/** What counts for most changes: everything but the PIN, which is too short. */
export const usualProofs: AllowedProofs = () => ['password', 'code', 'passkey'];

/** What includes a second factor (decision 60). */
const secondFactorProofs: readonly ProofType[] = ['totp', 'passkey'];

const readSession = prepared('proof_session', `select held.expires_at from (${heldSession('$1', '$2')}) held`);

export function createProofs(options: ProofsOptions): Proofs {
  const { database, guesses, limits, codes, methods, hasSecondFactor, nextPins } = options;

  async function userOf({ userId, deviceId, origin }: Prover): Promise<AccountUser> {
    await limits.loginFrom(origin.address);
    await limits.loginTo(userId, deviceId);
    const { user } = await getAccount(database, userId);
    // Deactivated or deleted since the session was checked.
    if (user === undefined) throw new Problem('invalid_session_token');
    if (user.nextPinIsDue) {
      // It ends every login, this one too.
      await nextPins.apply(userId);
      throw new Problem('invalid_session_token');
    }
    return user;
  }

  async function begin(prover: Prover, start: ProofStart): Promise<StartedProof> {
    const { userId, deviceId, origin } = prover;
    const user = await userOf(prover);
    // A code would not count beside a second factor: it is not sent in the first place.
    const counts = ({ type }: ProofMethod) => !hasSecondFactor(user) || secondFactorProofs.includes(type);
    const method = methods.find(
      (one): one is BegunProof => one.steps === 2 && one.starts.includes(start) && counts(one),
    );
    const id = newId();
    const begun = await method?.begin(user, start, id);
    if (method === undefined || begun === undefined) {
      throw new Problem('validation_failed', { errors: [{ field: 'type', code: 'not_supported' }] });
    }
    const { kept, lifetime, challenge, message } = begun;
    const typed = { ...kept, type: method.type };
    const recipient = message === undefined ? undefined : await admit(prover, message);
    const { expires_at } = await database.lane(userId).transaction(async (tx) => {
      await holdProver(tx, prover);
      const started = await beginChallenge(tx, { userId, id, purpose: 'proof', kept: typed, lifetime, deviceId });
      if (message !== undefined) {
        const { type, code } = message;
        await codes.send(tx, { userId, type, kind: 'proof_code', recipient, code });
      }
      await recordEvent(tx, { userId, type: 'proof.started', origin, data: { proof: start, device_id: deviceId } });
      return started;
    });
    return { id, type: method.type, ...(challenge && { challenge }), expires_at };
  }

  async function admit(
    { userId, deviceId, origin }: Prover,
    { type, to }: NonNullable<ProofChallenge['message']>,
  ): Promise<string | undefined> {
    const address = { type, canonical: to };
    const asked = { userId, address, recipient: to, knownDevice: deviceId, from: origin.address };
    return (await codes.admit(asked)) ? to : undefined;
  }

  async function check(prover: Prover, proof: Proof | undefined, allowed: AllowedProofs): Promise<Proven> {
    const { userId, deviceId, origin } = prover;
    const user = await userOf(prover);
    const { method, secret, id } = readProof(methods, proof, countingTypes(user, allowed));
    const address = { userId, id, purpose: 'proof', deviceId } as const;
    const evaluate = async (): Promise<boolean> => {
      if (method.steps === 1) return method.verify(user, secret, origin);
      const kept = await takeChallengeGuess(database.lane(userId), address);
      // Nothing was there to be guessed: it does not count.
      if (kept?.type !== method.type) throw new Problem('proof_rejected');
      return method.verify(user, { kept, authenticationId: id, secret, origin });
    };
    const verdict = await guesses.guess({ userId, deviceId, knownDevice: deviceId, origin }, async () =>
      // A right one does not clear the budget: who knows one secret would get any number of guesses at the others.
      (await evaluate()) ? 'halfway' : 'wrong',
    );
    if (verdict === 'wrong') {
      const data = { proof: method.type, device_id: deviceId };
      await recordEvent(database, { userId, type: 'proof.rejected', origin, data });
      throw new Problem('proof_rejected');
    }
    const challenge = method.steps === 2 ? address : undefined;
    return {
      type: method.type,
      async use(tx) {
        await use(tx, prover, user, challenge);
        // Once more, under the lock of the user's row: a second factor may have been enrolled since.
        const { user: now } = await getAccount(tx, userId);
        const stillCounting = now && countingTypes(now, allowed);
        if (stillCounting?.includes(method.type) !== true) throw new Problem('proof_rejected');
      },
    };
  }

  function countingTypes(user: AccountUser, allowed: AllowedProofs): readonly ProofType[] {
    const types = allowed(user);
    // The PIN is guarded: a code may have enrolled the second factor (decision 59).
    const onlyPin = types.every((type) => type === 'pin');
    return hasSecondFactor(user) && !onlyPin ? secondFactorProofs : types;
  }

  return { begin, check };
}

/**
 * Locks the user's row, and makes sure that the session still holds. @returns the user's epoch
 * @throws Problem `invalid_session_token`
 */
export async function holdProver(tx: Queryable, { userId, sessionId }: Prover): Promise<number> {
  const epoch = await holdUserEpoch(tx, userId);
  // In a statement of its own: what was revoked while this one waited for the row shows only now.
  const [session] = await tx.query(readSession, [userId, sessionId]);
  if (epoch === undefined || session === undefined) throw new Problem('invalid_session_token');
  return epoch;
}

async function use(
  tx: Queryable,
  prover: Prover,
  { epoch }: AccountUser,
  challenge: { readonly userId: string; readonly id: string } | undefined,
): Promise<void> {
  if ((await holdProver(tx, prover)) !== epoch) throw new Problem('proof_rejected');
  if (challenge !== undefined && !(await endChallenge(tx, challenge))) throw new Problem('proof_rejected');
}

/** @throws Problem `validation_failed` */
function readProof(
  methods: readonly ProofMethod[],
  proof: Proof | undefined,
  allowed: readonly ProofType[],
): { method: ProofMethod; secret: string; id: string } {
  if (proof === undefined) throw new Problem('validation_failed', { errors: [{ field: 'proof', code: 'required' }] });
  const counting = methods.filter(({ type }) => allowed.includes(type));
  const method = counting.find(({ type }) => type === proof.type);
  const id = proof.id === undefined ? undefined : parseId(proof.id);
  const faults: FieldError[] = [];
  if (method === undefined) {
    const types = counting.map(({ type }) => type);
    faults.push(choiceFault('proof.type', types));
  }
  if (method?.steps === 2 && id === undefined) faults.push({ field: 'proof.id', code: 'required' });
  refuseFaults(faults);
  if (method === undefined) throw new Error('a fault was not refused');
  return { method, secret: proof.secret, id: id ?? '' };
}
