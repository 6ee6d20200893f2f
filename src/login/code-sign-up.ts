import { recordEvent } from '../audit/events.js';
import type { Challenge, ChallengeState } from '../credentials/challenge.js';
import type { Database } from '../database/database.js';
import { type AccountUser, type Candidate, derivedUserId } from '../identities/accounts.js';
import type { Identity } from '../identities/identity.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import { newId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { Problem } from '../lib/problem.js';
import type { Users } from '../users/users.js';
import type { TwoStep } from './authenticators/authenticator.js';
import { assignAuthentication, type OpenAuthentication } from './open-authentications.js';

/*
 * Signing up by a login with a code (`sign_up`). If nobody has the address, the code is real, and the right one makes the
 * account. The login is counted, stored and answered as that of a known address.
 */

/** An address that nobody has, as the user that the right code makes. */
function newcomer(userId: string, { type, canonical }: Identity): Candidate {
  return {
    userId,
    role: 'user',
    passwordHash: undefined,
    username: undefined,
    locale: undefined,
    email: type === 'email' ? canonical : undefined,
    phone: type === 'phone' ? canonical : undefined,
    unproven: { email: undefined, phone: undefined },
  };
}

/** Begins a login by code that may sign up. */
export async function beginSignUp(
  authenticator: TwoStep,
  {
    keys,
    login: { id, userId },
    user,
    identity,
  }: {
    readonly keys: SecretKeys;
    readonly login: { readonly id: string; readonly userId: string };
    readonly user: AccountUser | undefined;
    readonly identity: Identity;
  },
): Promise<Challenge> {
  const { type, canonical } = identity;
  // A deactivated user has the address, and gets no code.
  const isFree = user === undefined && userId === derivedUserId(keys, identity);
  const challenge = await authenticator.begin(isFree ? newcomer(userId, identity) : user, id);
  const state = { ...challenge.state, signUp: type, address: canonical };
  const { message } = challenge;
  if (message === undefined) return { ...challenge, state };
  if (isFree) return { ...challenge, state, message: { ...message, kind: 'registration_code' } };
  if (type === 'username' || user?.unproven[type] !== canonical) return { ...challenge, state };
  // Nobody has proven the address, so its owner can only recover the account.
  return { ...challenge, state, message: { ...message, recipient: canonical, kind: 'registration_unproven' } };
}

/** The address that a login may sign up; undefined if it may not. */
function signUpAddress({ signUp, address }: ChallengeState): Identity | undefined {
  return (signUp === 'email' || signUp === 'phone') && address !== undefined
    ? { type: signUp, canonical: address }
    : undefined;
}

/** Who may answer the code of an open login that has no user: the newcomer, if the login may sign up. */
export function newcomerOf({ user_id, challenge }: OpenAuthentication): Candidate | undefined {
  const address = signUpAddress(challenge);
  return address && newcomer(user_id, address);
}

/** Makes the user of a login with the right code, and assigns the login to the user: all or nothing. */
export type SignUpByCode = (open: OpenAuthentication, origin: Origin) => Promise<OpenAuthentication | undefined>;

/**
 * Creates what the right code of an address without an account does.
 * @returns a function that returns undefined if a parallel answer was first, or somebody has the address by now
 */
export function createSignUpByCode({
  database,
  users,
}: {
  readonly database: Database;
  readonly users: Pick<Users, 'prepare' | 'create'>;
}): SignUpByCode {
  return async (open, origin) => {
    const address = signUpAddress(open.challenge);
    if (address === undefined) return undefined;
    const userId = newId();
    const prepared = await users.prepare({ [address.type]: address.canonical }, userId, { client: origin });
    try {
      return await database.transaction(async (tx) => {
        // This comes first: a parallel answer waits here for the row, and then finds no login.
        const assigned = await assignAuthentication(tx, open, { userId, epoch: 0 });
        if (assigned === undefined) return undefined;
        await users.create(tx, prepared, origin);
        await recordEvent(tx, { userId, type: 'identity.verified', origin, data: { field: address.type } });
        await recordEvent(tx, { userId, type: 'registration.completed', origin });
        return assigned;
      });
    } catch (error) {
      if (error instanceof Problem && error.code === 'identity_taken') return undefined;
      throw error;
    }
  };
}
