import type { Challenge, ChallengeAnswer, NextChallenge } from '../../credentials/challenge.js';
import type { AccountUser, Candidate } from '../../identities/accounts.js';
import type { Origin } from '../../lib/origin.js';
import type { RedirectRequest } from '../providers/redirect-state.js';

/**
 * A login method with a name and one or two steps.
 *
 * The core does everything else, so that an authenticator cannot forget it: account look-up, the same responses for
 * unknown identities, guess budgets, states and expiry, the PIN, second factors, devices, tokens, and audit events.
 */
export type Authenticator = SingleStep | TwoStep | UserIdentifying;

interface AuthenticatorBase {
  /** The value that clients send as `authenticator`. */
  readonly name: string;
  /**
   * Called after each failure, for any reason. Use it to make all failures take the same time.
   * @param answer.since when the evaluation began, by `performance.now()`
   * @param answer.secret as it was sent
   */
  afterFailure?(
    candidate: Candidate | undefined,
    answer: { readonly since: number; readonly secret: string; readonly origin: Origin },
  ): Promise<void>;
  /**
   * Finds what this authenticator needs and the user does not have, such as a password; undefined if nothing is
   * missing. An authenticator without this function decides by data that Postern does not have.
   */
  findMissing?(user: AccountUser): Promise<Requirement | undefined>;
}

/** What a user must have for an authenticator. A hash that this version cannot read counts as missing. */
export type Requirement =
  | 'password'
  | 'readable_password_hash'
  | 'phone'
  | 'email'
  | 'proven_phone'
  | 'proven_email'
  | 'passkey'
  | 'external_identity';

/** The secret of a login in one step. */
export interface SingleAnswer {
  readonly secret: string;
  readonly authenticationId: string;
  readonly origin: Origin;
}

/** Decides in one step, from the secret of the login request. */
export interface SingleStep extends AuthenticatorBase {
  readonly steps: 1;
  /** Whether it hashes the secret, and waits for no other system. Then the logins of one address wait for each other. */
  readonly hashesSecret?: true;
  /** Must take the same time for every candidate (together with `afterFailure`), and must not throw for a wrong secret. */
  verify(candidate: Candidate | undefined, answer: SingleAnswer): Promise<boolean>;
  /** Called with the right secret after the login is approved. Use it to rehash the secret. An error is only logged. */
  afterApproval?(candidate: Candidate, answer: Omit<SingleAnswer, 'authenticationId'>): Promise<void>;
}

/** Begins a challenge and decides by its answer. */
export interface TwoStep extends AuthenticatorBase {
  readonly steps: 2;
  /** Whether it sends a code, and waits for no other system. Then the requests of one address wait for each other. */
  readonly sendsCode?: true;
  /** Must do the same work for every candidate. The queue drops a message without a recipient. */
  begin(candidate: Candidate | undefined, authenticationId: string): Promise<Challenge>;
  /** Decides by the `state` of the challenge that `begin` returned. Must take the same time for every candidate. */
  verify(answer: ChallengeAnswer, candidate: Candidate | undefined): Promise<boolean>;
}

/**
 * Begins a challenge without an identity: the answer, such as a passkey assertion or an id_token, identifies the user.
 * Such a login takes no PIN.
 */
export interface UserIdentifying extends AuthenticatorBase {
  readonly steps: 2;
  readonly namesUser: true;
  /** Whether an answer that identifies nobody can create a user, or be linked to an existing user after a proof. */
  readonly signsUp?: boolean;
  /** @throws Problem if the request lacks what the authenticator needs */
  begin(authenticationId: string, request: RedirectRequest): Promise<Challenge>;
  /**
   * @returns the user; the next challenge; `not_linked` for a proven account that no user has; undefined for an answer that
   *   identifies nobody
   */
  identify(answer: ChallengeAnswer): Promise<IdentifiedUser | NextChallenge | 'not_linked' | undefined>;
}

export interface IdentifiedUser {
  readonly userId: string;
  /** Whether the answer counts as two factors, such as a passkey with user verification: then no second factor is required. */
  readonly isMultiFactor: boolean;
  /** The second factor of the login, if it is not the authenticator itself. Null: there was none. */
  readonly secondFactor?: string | null;
  /** An account at a provider, encrypted, that the approval links to the user. */
  readonly link?: string;
  /**
   * Called once for an answer, even if parallel requests send it. Use it to record that the answer is used.
   * @returns false if the login must be refused, for example because the answer was used already
   */
  consume?(): Promise<boolean>;
}

/** Whether a login takes a PIN with its first secret. A passkey or an id_token needs none. */
export function takesPin(authenticator: Authenticator | undefined): boolean {
  return authenticator === undefined || !identifiesUser(authenticator);
}

/** Whether the answer to the authenticator identifies the user, so that a login needs no identity. */
export function identifiesUser(authenticator: Authenticator): authenticator is UserIdentifying {
  return 'namesUser' in authenticator && authenticator.namesUser;
}
