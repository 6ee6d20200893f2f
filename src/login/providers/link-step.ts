import type { Challenge, ChallengeAnswer, ChallengeState, NextChallenge } from '../../credentials/challenge.js';
import type { Database } from '../../database/database.js';
import { type AccountUser, getAccount } from '../../identities/accounts.js';
import { parseJsonObject } from '../../lib/json-object.js';
import type { GuessBudget } from '../../limits/guess-budget.js';

/** What can prove an account before something is linked to it. `login` implements it with its authenticators. */
export interface LinkAuthenticator {
  /** The name of the authenticator. */
  readonly name: string;
  /** Whether this user has what it needs. */
  isOpenTo(user: AccountUser): Promise<boolean>;
  /** Asks for the secret; absent if the user knows it already, such as a password. */
  readonly begin?: (user: AccountUser, authenticationId: string) => Promise<Challenge>;
  verify(user: AccountUser, answer: ChallengeAnswer): Promise<boolean>;
}

/** The step in which a person proves an account of Postern, so that an account at a provider can be linked to it. */
export interface LinkStep {
  /** The authenticators that this user can use. */
  authenticatorsOf(user: AccountUser): Promise<readonly LinkAuthenticator[]>;
  /**
   * @param account the account at the provider, encrypted
   * @param isUnproven whether nobody has proven the address of the user. If the address belongs to this person, a recovery helps
   */
  begin(
    user: AccountUser,
    authenticators: readonly LinkAuthenticator[],
    account: string,
    isUnproven: boolean,
  ): NextChallenge;
  /** The user whom an answer has proven, or the challenge of the authenticator that it has chosen. Undefined: it is wrong. */
  answer(given: ChallengeAnswer): Promise<{ readonly userId: string } | NextChallenge | undefined>;
}

export interface LinkStepOptions {
  readonly database: Database;
  readonly guesses: GuessBudget;
  /** What can prove an account, in the order in which clients offer it. */
  readonly authenticators: readonly LinkAuthenticator[];
}

/** Seconds: as long as a login waits for its secret. */
const lifetime = 600;

/** Creates the step. */
export function createLinkStep({ database, guesses, authenticators }: LinkStepOptions): LinkStep {
  async function authenticatorsOf(user: AccountUser): Promise<readonly LinkAuthenticator[]> {
    const open = await Promise.all(authenticators.map(async (one) => ((await one.isOpenTo(user)) ? [one] : [])));
    return open.flat();
  }

  async function answer({ state, authenticationId, secret: text, origin }: ChallengeAnswer) {
    const { user } = await getAccount(database.user(state.user ?? ''), state.user ?? '');
    const { authenticator: name, secret } = parseJsonObject(text) ?? {};
    if (user === undefined) return undefined;
    const open = await authenticatorsOf(user);
    const chosen = open.find((one) => one.name === name);
    if (chosen === undefined) return undefined;
    if (secret === undefined && chosen.begin !== undefined) {
      return nextOf(user, open, chosen, { state, asked: await chosen.begin(user, authenticationId) });
    }
    if (typeof secret !== 'string' || (chosen.begin !== undefined && state.authenticator !== chosen.name))
      return undefined;
    const { userId } = user;
    // The login counts as an unknown device: a known one would have a budget of its own.
    const guessed = { userId, deviceId: authenticationId, knownDevice: undefined, origin };
    const result = await guesses.guess(guessed, async () =>
      (await chosen.verify(user, { state, authenticationId, secret, origin })) ? 'right' : 'wrong',
    );
    return result === 'right' ? { userId } : undefined;
  }

  return {
    authenticatorsOf,
    begin: ({ userId }, authenticators, account, isUnproven) => ({
      next: challengeOf(authenticators, { step: 'link', user: userId, account }, isUnproven ? { recovery: true } : {}),
      isSameStep: false,
    }),
    answer,
  };
}

function challengeOf(
  authenticators: readonly LinkAuthenticator[],
  state: ChallengeState,
  more: object = {},
): Challenge {
  const clientChallenge = { type: 'link', authenticators: authenticators.map(({ name }) => name), ...more };
  return { state, lifetime, clientChallenge };
}

/** The challenge of the authenticator that the person has chosen, with the message that it sends. */
function nextOf(
  { userId }: AccountUser,
  authenticators: readonly LinkAuthenticator[],
  { name }: LinkAuthenticator,
  { state, asked }: { readonly state: ChallengeState; readonly asked: Challenge },
): NextChallenge {
  const { step = '', user = '', account = '' } = state;
  const { clientChallenge, message } = asked;
  const next = challengeOf(
    authenticators,
    { step, user, account, ...asked.state, authenticator: name },
    clientChallenge && { [name]: clientChallenge },
  );
  if (message === undefined) return { next, isSameStep: true };
  const { channel, recipient = '' } = message;
  const identity = { type: channel === 'sms' ? 'phone' : 'email', canonical: recipient } as const;
  return { next: { ...next, message }, recipient: { userId, identity }, isSameStep: true };
}
