import type { AccountUser } from './accounts.js';
import type { Challenge, ChallengeAnswer } from './authenticators/authenticator.js';

/** What a login asks for after the right first secret. */
export interface SecondFactors {
  /** @returns the challenge that this user must answer beside; undefined: none. */
  ask(user: AccountUser, authenticationId: string): Promise<Challenge | undefined>;
  /** @returns what the answer was, such as `totp`; undefined when it is wrong. */
  verify(user: AccountUser, answer: ChallengeAnswer): Promise<string | undefined>;
}
