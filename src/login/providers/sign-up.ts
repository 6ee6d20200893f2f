import { recordEvent } from '../../audit/events.js';
import type { Challenge, ChallengeAnswer, ChallengeState } from '../../credentials/challenge.js';
import {
  countChallengeGuess,
  endChallenge,
  findRecentChallenge,
  startChallenge,
} from '../../credentials/challenges.js';
import { codeDigest, codeLifetime, codeMatches, newCode } from '../../credentials/codes.js';
import type { Database } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { type AccountUser, derivedProviderAccountId, getAccount } from '../../identities/accounts.js';
import { canonicalIdentity, type Identity, identityDigest, maskAddress } from '../../identities/identity.js';
import type { SecretKeys } from '../../lib/crypto/secret-keys.js';
import { newId } from '../../lib/ids.js';
import { parseJsonObject } from '../../lib/json-object.js';
import type { Origin } from '../../lib/origin.js';
import { Problem } from '../../lib/problem.js';
import { type GuessBudget, sessionlessBucket } from '../../limits/guess-budget.js';
import type { HumanCheck } from '../../limits/human-check.js';
import type { Notices } from '../../messages/notices.js';
import {
  findByExternalIdentity,
  linkExternalIdentity,
  recordExternalIdentity,
} from '../../users/external-identities.js';
import type { Users } from '../../users/users.js';
import type { IdentityProvider, ProviderAccount } from './provider.js';

/**
 * What follows when an account at a provider is linked to nobody, and the provider may sign up users. What a provider says
 * of a mail address never opens an account of Postern: the owner of that account has to prove it as in any login.
 */
export interface SignUp {
  /** The next step of a login with this account. */
  continueWith(provider: IdentityProvider, account: ProviderAccount, answer: ChallengeAnswer): Promise<Outcome>;
  /** What a login with this account would do now. It sends and writes nothing. */
  foresee(provider: IdentityProvider, account: ProviderAccount): Promise<ForeseenLogin>;
  /** Evaluates the answer to a step that `continueWith` has asked for. Undefined: it is wrong. */
  answer(provider: IdentityProvider, answer: ChallengeAnswer): Promise<Outcome | undefined>;
  /** Links an account that an `Outcome` has named as `link`. @throws Problem `external_identity_taken` */
  link(userId: string, login: { readonly id: string }, link: string, origin: Origin): Promise<void>;
}

/** What a login with an account at a provider would do. */
export interface ForeseenLogin {
  readonly outcome: 'logs_in' | 'creates_user' | 'asks_for_code' | 'asks_for_link' | 'not_linked';
  /** The user who has linked the account. */
  readonly userId?: string;
}

/** The user; a further step; or the end. */
export type Outcome =
  | 'not_linked'
  | { readonly userId: string; readonly link?: string }
  | {
      readonly next: Challenge;
      readonly recipient?: { readonly userId: string; readonly identity: Identity };
      readonly isSameStep: boolean;
    };

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

export interface SignUpOptions {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly users: Pick<Users, 'prepare' | 'create' | 'getForUpdate'>;
  readonly guesses: GuessBudget;
  readonly notices: Pick<Notices, 'notify'>;
  /** Whether codes can be sent by mail. */
  readonly sendsMail: boolean;
  /** Undefined: there is none. */
  readonly humanCheck: HumanCheck | undefined;
  /** The ways in that can prove an account, in the order in which clients offer them. */
  readonly waysIn: readonly WayIn[];
}

const findOwner = statement<{ digest: Buffer }, { user_id: string }>(
  'sign_up_owner',
  (p) => sql`select user_id from identities where digest = ${p.digest}`,
);

/** Seconds in which a repeated login of one account gets no second mail. */
const repeatSeconds = 60;
/** Seconds: as long as a login waits for its secret. */
const linkLifetime = 600;

/** Creates the steps of accounts that are linked to nobody. */
export function createSignUp(options: SignUpOptions): SignUp {
  const { database, keys, users, guesses, notices, sendsMail, humanCheck, waysIn } = options;
  const seal = (account: ProviderAccount, id: string) =>
    keys.encrypt(JSON.stringify(account), `account of ${id}`).toString('base64');
  function open(text: string | undefined, id: string): ProviderAccount | undefined {
    const plain = text === undefined ? undefined : keys.decrypt(Buffer.from(text, 'base64'), `account of ${id}`);
    return plain === undefined ? undefined : JSON.parse(plain);
  }

  async function continueWith(
    provider: IdentityProvider,
    account: ProviderAccount,
    answer: ChallengeAnswer,
  ): Promise<Outcome> {
    const address = account.email === undefined ? undefined : canonicalIdentity('email', account.email, undefined);
    if (address === undefined) return { userId: await createUser(provider, account, undefined, answer.origin) };
    if (account.runsMailbox) return continueWithProven(provider, account, address, answer);
    return sendsMail ? askForCode(account, address, answer) : 'not_linked';
  }

  async function foresee({ signUp }: IdentityProvider, account: ProviderAccount): Promise<ForeseenLogin> {
    const userId = await findByExternalIdentity(database, account);
    if (userId !== undefined) return { outcome: 'logs_in', userId };
    if (!signUp) return { outcome: 'not_linked' };
    const address = account.email === undefined ? undefined : canonicalIdentity('email', account.email, undefined);
    if (address === undefined) return { outcome: 'creates_user' };
    if (!account.runsMailbox) return { outcome: sendsMail ? 'asks_for_code' : 'not_linked' };
    const [owner] = await database.query(findOwner({ digest: identityDigest(address) }));
    if (owner === undefined) return { outcome: 'creates_user' };
    const { user } = await getAccount(database.user(owner.user_id), owner.user_id);
    const isUnproven = user?.unproven.email === address.canonical;
    const canLink = user !== undefined && (isUnproven || (await openWays(user)).length > 0);
    return { outcome: canLink ? 'asks_for_link' : 'not_linked' };
  }

  /** Nobody can read the mail of this address but its owner, who is at the other end. */
  async function continueWithProven(
    provider: IdentityProvider,
    account: ProviderAccount,
    address: Identity,
    answer: ChallengeAnswer,
    hasCode = false,
  ): Promise<Outcome> {
    const [owner] = await database.query(findOwner({ digest: identityDigest(address) }));
    if (owner === undefined) return { userId: await createUser(provider, account, address, answer.origin) };
    // A parallel login of the same account may have made this user just now.
    const linked = await findByExternalIdentity(database, account);
    if (linked !== undefined) return { userId: linked };
    const { user } = await getAccount(database.user(owner.user_id), owner.user_id);
    if (user === undefined) return 'not_linked';
    const link = seal(account, answer.authenticationId);
    const open = await openWays(user);
    // The code was sent to the address of the account, so it proves what a login by mail would prove.
    if (hasCode && open.some(({ name }) => name === 'email')) return { userId: user.userId, link };
    const isUnproven = user.unproven.email === address.canonical;
    if (open.length === 0 && !isUnproven) return 'not_linked';
    const state = { step: 'link', user: user.userId, account: link };
    // Nobody has proven this address for the account. If its owner is this person, a recovery through it helps.
    return { next: linkChallenge(open, state, isUnproven ? { recovery: true } : {}), isSameStep: false };
  }

  async function openWays(user: AccountUser): Promise<WayIn[]> {
    const open = await Promise.all(waysIn.map(async (way) => ((await way.isOpenTo(user)) ? [way] : [])));
    return open.flat();
  }

  function linkChallenge(open: readonly WayIn[], state: ChallengeState, more: object = {}) {
    const clientChallenge = { type: 'link', authenticators: open.map(({ name }) => name), ...more };
    return { state, lifetime: linkLifetime, clientChallenge };
  }

  /** The same for addresses of users and for others. A second login of the account within a minute shares the code. */
  async function askForCode(
    account: ProviderAccount,
    address: Identity,
    { authenticationId, humanCheck: token, deviceId, origin }: ChallengeAnswer,
  ): Promise<Outcome> {
    const userId = derivedProviderAccountId(keys, account.issuer, account.subject);
    const handle = database.user(userId);
    const recent = await findRecentChallenge(handle, { userId, purpose: 'provider_address', seconds: repeatSeconds });
    if (recent === undefined) {
      const identity = { ...address, digest: identityDigest(address) };
      const { clientAddress } = origin;
      await humanCheck?.pass({ purpose: 'login', token, identity, deviceId, clientAddress });
    }
    const id = recent ?? newId();
    const code = newCode();
    if (recent === undefined) {
      const state = { code: codeDigest(keys, id, code), address: address.canonical };
      await startChallenge(handle, { userId, id, purpose: 'provider_address', lifetime: codeLifetime, state });
    }
    const state = { step: 'code', challenge: id, account: seal(account, authenticationId) };
    const destination = maskAddress({ type: 'email', canonical: address.canonical });
    const next = { state, lifetime: codeLifetime, clientChallenge: { type: 'code', destination } };
    if (recent !== undefined) return { next, isSameStep: false };
    const message = { channel: 'email', recipient: address.canonical, code } as const;
    return { next: { ...next, message }, recipient: { userId, identity: address }, isSameStep: false };
  }

  async function answer(provider: IdentityProvider, given: ChallengeAnswer): Promise<Outcome | undefined> {
    const account = open(given.state.account, given.authenticationId);
    if (account === undefined) return undefined;
    return given.state.step === 'code' ? answerCode(provider, account, given) : answerLink(account, given);
  }

  async function answerCode(
    provider: IdentityProvider,
    account: ProviderAccount,
    given: ChallengeAnswer,
  ): Promise<Outcome | undefined> {
    const { challenge: id = '' } = given.state;
    const userId = derivedProviderAccountId(keys, account.issuer, account.subject);
    const bucket = sessionlessBucket(undefined);
    let address: string | undefined;
    const guessed = { userId, deviceId: bucket, knownDevice: undefined, bucket, origin: given.origin };
    const result = await guesses.guess(guessed, async () => {
      const state = await countChallengeGuess(database.user(userId), { userId, id, purpose: 'provider_address' });
      address = state?.address;
      if (state === undefined) return 'neutral';
      return codeMatches(keys, id, given.secret, state.code ?? '') ? 'right' : 'wrong';
    });
    if (result !== 'right' || address === undefined) return undefined;
    if (!(await endChallenge(database.user(userId), { userId, id }))) return undefined;
    return continueWithProven(provider, account, { type: 'email', canonical: address }, given, true);
  }

  async function answerLink(account: ProviderAccount, given: ChallengeAnswer): Promise<Outcome | undefined> {
    const { state, authenticationId, origin } = given;
    const { user } = await getAccount(database.user(state.user ?? ''), state.user ?? '');
    const { authenticator, secret } = parseJsonObject(given.secret) ?? {};
    if (user === undefined) return undefined;
    const open = await openWays(user);
    const way = open.find(({ name }) => name === authenticator);
    if (way === undefined) return undefined;
    if (secret === undefined && way.begin !== undefined) {
      const { state: asked, clientChallenge, message } = await way.begin(user, authenticationId);
      const next = linkChallenge(
        open,
        { ...pick(state), ...asked, way: way.name },
        clientChallenge && { [way.name]: clientChallenge },
      );
      const identity =
        message &&
        ({ type: message.channel === 'sms' ? 'phone' : 'email', canonical: message.recipient ?? '' } as const);
      if (message === undefined || identity === undefined) return { next, isSameStep: true };
      return { next: { ...next, message }, recipient: { userId: user.userId, identity }, isSameStep: true };
    }
    if (typeof secret !== 'string' || (way.begin !== undefined && state.way !== way.name)) return undefined;
    const guessed = { userId: user.userId, deviceId: authenticationId, knownDevice: undefined, origin };
    const result = await guesses.guess(guessed, async () =>
      (await way.verify(user, { state, authenticationId, secret, origin })) ? 'right' : 'wrong',
    );
    return result === 'right' ? { userId: user.userId, link: seal(account, authenticationId) } : undefined;
  }

  async function link(userId: string, { id }: { readonly id: string }, text: string, origin: Origin): Promise<void> {
    const account = open(text, id);
    if (account === undefined) throw new Problem('external_identity_taken');
    await database.user(userId).transaction(async (tx) => {
      await users.getForUpdate(tx, userId);
      await linkExternalIdentity(tx, userId, account, { origin, notices });
    });
  }

  async function createUser(
    { name: provider }: IdentityProvider,
    { issuer, subject, email, name }: ProviderAccount,
    address: Identity | undefined,
    origin: Origin,
  ): Promise<string> {
    const id = newId();
    const input = { ...(address && { email: address.canonical }), ...(name && { name: usableName(name) }) };
    const prepared = await users.prepare(input, id, { hasExternalIdentity: true, client: origin });
    try {
      return await database.user(id).transaction(async (tx) => {
        // This comes first: a parallel login of the same account waits here, and then finds the user.
        const linked = await recordExternalIdentity(tx, id, { provider, issuer, subject, email }, origin);
        if (linked === undefined) throw new AlreadyLinked();
        await users.create(tx, prepared, origin);
        if (address !== undefined) {
          await recordEvent(tx, { userId: id, type: 'identity.verified', origin, data: { field: 'email' } });
        }
        await recordEvent(tx, { userId: id, type: 'registration.completed', origin, data: { provider } });
        return id;
      });
    } catch (error) {
      const isRace = error instanceof AlreadyLinked || (error instanceof Problem && error.code === 'identity_taken');
      const owner = isRace ? await findByExternalIdentity(database, { issuer, subject }) : undefined;
      if (owner === undefined) throw error;
      return owner;
    }
  }

  return { continueWith, foresee, answer, link };
}

/** What a step of linking keeps when it asks for another secret. */
const pick = ({ step = '', user = '', account = '' }: ChallengeState): ChallengeState => ({ step, user, account });

/** UTF-16 code units, as the contract counts. */
const maxNameLength = 255;

/** What our names allow of a provider's name: no control characters, no halves of surrogate pairs, no more than fits. */
const usableName = (name: string): string =>
  name
    .replace(/[\p{Cc}\p{Cs}]/gu, ' ')
    .trim()
    .slice(0, maxNameLength)
    .replace(/[\ud800-\udbff]$/, '');

/** A parallel login has linked the account. */
class AlreadyLinked extends Error {}
