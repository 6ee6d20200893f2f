import type { Challenge, ChallengeAnswer, ChallengeState, NextChallenge } from '../../credentials/challenge.js';
import type { Database } from '../../database/database.js';
import { type AccountUser, getAccount } from '../../identities/accounts.js';
import { parseJsonObject } from '../../lib/json-object.js';
import type { GuessBudget } from '../../limits/guess-budget.js';

/** A way in that can prove an account before something is linked to it. `login` implements it with its authenticators. */
export interface WayIn {
  /** The name of the authenticator. */
  readonly name: string;
  /** Whether this user has what it needs. */
  isOpenTo(user: AccountUser): Promise<boolean>;
  /** Asks for the secret; absent for a way whose secret the user knows. */
  readonly begin?: (user: AccountUser, authenticationId: string) => Promise<Challenge>;
  verify(user: AccountUser, answer: ChallengeAnswer): Promise<boolean>;
}

/** The step in which a person proves an account of Postern, so that an account at a provider can be linked to it. */
export interface LinkStep {
  /** The ways in that this user has. */
  waysOf(user: AccountUser): Promise<readonly WayIn[]>;
  /**
   * @param account the account at the provider, encrypted
   * @param isUnproven whether nobody has proven the address of the user. If the address belongs to this person, a recovery helps
   */
  begin(user: AccountUser, ways: readonly WayIn[], account: string, isUnproven: boolean): NextChallenge;
  /** The user whom an answer has proven, or the challenge of the way that it has chosen. Undefined: it is wrong. */
  answer(given: ChallengeAnswer): Promise<{ readonly userId: string } | NextChallenge | undefined>;
}

export interface LinkStepOptions {
  readonly database: Database;
  readonly guesses: GuessBudget;
  /** The ways in that can prove an account, in the order in which clients offer them. */
  readonly waysIn: readonly WayIn[];
}

/** Seconds: as long as a login waits for its secret. */
const lifetime = 600;

/** Creates the step. */
export function createLinkStep({ database, guesses, waysIn }: LinkStepOptions): LinkStep {
  async function waysOf(user: AccountUser): Promise<readonly WayIn[]> {
    const ways = await Promise.all(waysIn.map(async (way) => ((await way.isOpenTo(user)) ? [way] : [])));
    return ways.flat();
  }

  async function answer({ state, authenticationId, secret: text, origin }: ChallengeAnswer) {
    const { user } = await getAccount(database.user(state.user ?? ''), state.user ?? '');
    const { authenticator, secret } = parseJsonObject(text) ?? {};
    if (user === undefined) return undefined;
    const ways = await waysOf(user);
    const way = ways.find(({ name }) => name === authenticator);
    if (way === undefined) return undefined;
    if (secret === undefined && way.begin !== undefined) {
      return nextOf(user, ways, way, { state, asked: await way.begin(user, authenticationId) });
    }
    if (typeof secret !== 'string' || (way.begin !== undefined && state.way !== way.name)) return undefined;
    const { userId } = user;
    const guessed = { userId, deviceId: authenticationId, knownDevice: undefined, origin };
    const result = await guesses.guess(guessed, async () =>
      (await way.verify(user, { state, authenticationId, secret, origin })) ? 'right' : 'wrong',
    );
    return result === 'right' ? { userId } : undefined;
  }

  return {
    waysOf,
    begin: ({ userId }, ways, account, isUnproven) => ({
      next: challengeOf(ways, { step: 'link', user: userId, account }, isUnproven ? { recovery: true } : {}),
      isSameStep: false,
    }),
    answer,
  };
}

function challengeOf(ways: readonly WayIn[], state: ChallengeState, more: object = {}): Challenge {
  const clientChallenge = { type: 'link', authenticators: ways.map(({ name }) => name), ...more };
  return { state, lifetime, clientChallenge };
}

/** The challenge of the way that the person has chosen, with the message that it sends. */
function nextOf(
  { userId }: AccountUser,
  ways: readonly WayIn[],
  { name }: WayIn,
  { state, asked }: { readonly state: ChallengeState; readonly asked: Challenge },
): NextChallenge {
  const { step = '', user = '', account = '' } = state;
  const { clientChallenge, message } = asked;
  const next = challengeOf(
    ways,
    { step, user, account, ...asked.state, way: name },
    clientChallenge && { [name]: clientChallenge },
  );
  if (message === undefined) return { next, isSameStep: true };
  const { channel, recipient = '' } = message;
  const identity = { type: channel === 'sms' ? 'phone' : 'email', canonical: recipient } as const;
  return { next: { ...next, message }, recipient: { userId, identity }, isSameStep: true };
}
