import { setTimeout as wait } from 'node:timers/promises';
import type { ChallengeAnswer } from '../../credentials/challenge.js';
import type { Candidate } from '../../identities/accounts.js';
import type { Authenticator, SingleAnswer } from './authenticator.js';

/** The data of a user that a custom authenticator gets. Undefined members: the user has no such identity or locale. */
export type CustomUser = Pick<Candidate, 'username' | 'email' | 'phone' | 'locale'> & { readonly id: string };

/**
 * The operator's service that decides about secrets. `user` is undefined for an unknown user and for a user who cannot
 * log in.
 */
export interface CustomEndpoint {
  /** Tells the service that a login of two steps begins. @throws Problem `authenticator_unavailable` */
  begin(user: CustomUser | undefined, authenticationId: string): Promise<void>;
  /** Whether the secret is right. @throws Problem `authenticator_unavailable` */
  verify(user: CustomUser | undefined, secret: string, authenticationId: string): Promise<boolean>;
}

export interface CustomAuthenticatorOptions {
  /** The value that clients send as `authenticator`. */
  readonly name: string;
  readonly steps: 1 | 2;
  readonly endpoint: CustomEndpoint;
  readonly clock?: Clock;
}

/** The clock of the process. */
interface Clock {
  /** Milliseconds since any fixed moment. */
  now(): number;
  wait(milliseconds: number): Promise<void>;
}

const processClock: Clock = { now: () => performance.now(), wait };

/** Milliseconds. See `customAuthenticator`. */
const tickMs = 500;
/** Seconds for the second step. */
const challengeLifetime = 300;

/**
 * An authenticator that asks the operator's service.
 *
 * Failures and begun logins are answered when a multiple of `tickMs` has passed since the evaluation began. Otherwise
 * the response time would reveal how long the service worked, which may differ between known and unknown users
 * (decision 18).
 */
export function customAuthenticator(options: CustomAuthenticatorOptions): Authenticator {
  const { name, steps, endpoint, clock = processClock } = options;

  const waitForTick = (since: number) => clock.wait(tickMs - ((clock.now() - since) % tickMs));
  const afterFailure = (_candidate: Candidate | undefined, { since }: { readonly since: number }) => waitForTick(since);

  async function verify(
    candidate: Candidate | undefined,
    { secret, authenticationId }: Pick<SingleAnswer, 'secret' | 'authenticationId'>,
  ): Promise<boolean> {
    const since = clock.now();
    try {
      return await endpoint.verify(customUser(candidate), secret, authenticationId);
    } catch (error) {
      await waitForTick(since);
      throw error;
    }
  }

  if (steps === 1) return { name, steps, verify, afterFailure };
  return {
    name,
    steps,
    afterFailure,
    async begin(candidate: Candidate | undefined, authenticationId: string) {
      const since = clock.now();
      try {
        await endpoint.begin(customUser(candidate), authenticationId);
      } finally {
        await waitForTick(since);
      }
      return { state: {}, lifetime: challengeLifetime };
    },
    verify: (answer: ChallengeAnswer, candidate: Candidate | undefined) => verify(candidate, answer),
  };
}

function customUser(candidate: Candidate | undefined): CustomUser | undefined {
  if (candidate === undefined) return undefined;
  const { userId: id, username, email, phone, locale } = candidate;
  return { id, username, email, phone, locale };
}
