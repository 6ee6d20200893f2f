import type { MessageChannel } from '../../contract/administration.js';
import type { Origin } from '../../lib/origin.js';

/**
 * A way to prove who one is: a plug-in with a name and one step or two.
 *
 * The core does everything else, so a plug-in cannot forget it: finding the user, equal answers for unknown ones,
 * guesses, states and their ends, the PIN, second factors, devices, tokens, and the audit trail.
 */
export type Authenticator = SingleStep | TwoStep | SelfNaming;

/** What an authenticator may know of the user. Undefined in its place: nobody, or somebody who may not log in. */
export interface Candidate {
  readonly userId: string;
  readonly passwordHash: string | undefined;
  readonly username: string | undefined;
  /** Canonical. */
  readonly email: string | undefined;
  /** E.164. */
  readonly phone: string | undefined;
  /** BCP 47. */
  readonly locale: string | undefined;
}

interface Named {
  /** What clients send as `authenticator`. */
  readonly name: string;
  /**
   * Called when a secret came to nothing, for whatever reason: the moment to do what makes all failures take the same time.
   * @param since when its evaluation began, by `performance.now()`
   */
  refused?(candidate: Candidate | undefined, since: number): Promise<void>;
}

/** Decides at once, from the secret of the login request. */
export interface SingleStep extends Named {
  readonly steps: 1;
  /** Must take the same time whoever the candidate is (together with `refused`), and not throw for a wrong secret. */
  verify(candidate: Candidate | undefined, secret: string, authenticationId: string): Promise<boolean>;
  /** Called after the login was approved, with the secret that was right: the moment to store it in a better way. */
  approved?(candidate: Candidate, secret: string): Promise<void>;
}

/** Begins a challenge and decides when its answer comes. */
export interface TwoStep extends Named {
  readonly steps: 2;
  /** Must do the same work whoever the candidate is; a message without a recipient is dropped by the queue. */
  begin(candidate: Candidate | undefined, authenticationId: string): Promise<Challenge>;
  /** Decides from what `begin` kept. Must take the same time whoever the candidate is. */
  verify(answer: ChallengeAnswer, candidate: Candidate | undefined): Promise<boolean>;
}

/**
 * Begins a challenge without being told for whom: the answer says it (a passkey, an id_token). Such a login names no
 * identity and takes no PIN.
 */
export interface SelfNaming extends Named {
  readonly steps: 2;
  readonly namesUser: true;
  begin(authenticationId: string): Promise<Challenge>;
  /** @returns who it is; undefined for an answer that proves nobody. */
  identify(answer: ChallengeAnswer): Promise<NamedUser | undefined>;
}

export interface NamedUser {
  readonly userId: string;
  /** Whether what was proven is two factors in one, such as a passkey that verified its owner: no second is asked for. */
  readonly isMultiFactor: boolean;
  /**
   * Called when of several answers this one counts: the moment to note that what was proven by is used. False: it is
   * refused after all.
   */
  use?(): Promise<boolean>;
}

/** What a two-step authenticator remembers between its steps: JSON, never the secret itself. */
export type ChallengeState = Readonly<Record<string, string>>;

export interface Challenge {
  readonly kept: ChallengeState;
  /** Seconds until an answer is no longer accepted. */
  readonly lifetime: number;
  /** What the client is shown, as `challenge` of the authentication. */
  readonly shown?: ShownChallenge;
  /** A code that goes out through the durable queue. */
  readonly message?: CodeMessage;
}

/** What a client needs to answer: `type` says how, such as `totp` or `passkey`. */
export type ShownChallenge = Readonly<Record<string, unknown>> & { readonly type: string };

export interface ChallengeAnswer {
  readonly kept: ChallengeState;
  /** Of the authentication, or of another challenge that is answered in the same way. */
  readonly authenticationId: string;
  readonly secret: string;
  /** Where it came from, for the audit trail. */
  readonly origin: Origin;
}

export interface CodeMessage {
  readonly channel: MessageChannel;
  readonly recipient: string | undefined;
  readonly code: string;
}

export function namesUser(authenticator: Authenticator): authenticator is SelfNaming {
  return 'namesUser' in authenticator && authenticator.namesUser;
}
