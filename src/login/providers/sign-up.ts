import type { ChallengeAnswer, NextChallenge } from '../../credentials/challenge.js';
import { sql, statement } from '../../database/sql.js';
import { getAccount } from '../../identities/accounts.js';
import { canonicalIdentity, type Identity, identityDigest } from '../../identities/identity.js';
import type { SecretKeys } from '../../lib/crypto/secret-keys.js';
import type { Origin } from '../../lib/origin.js';
import { Problem } from '../../lib/problem.js';
import type { Notices } from '../../messages/notices.js';
import { findByExternalIdentity, linkExternalIdentity } from '../../users/external-identities.js';
import type { Users } from '../../users/users.js';
import { type AddressCodeOptions, createAddressCode } from './address-code.js';
import { createLinkStep, type LinkStepOptions } from './link-step.js';
import type { IdentityProvider, ProviderAccount } from './provider.js';
import { createProviderUser } from './provider-user.js';

/**
 * What follows when an account at a provider is linked to nobody, and the provider may sign up users. What a provider says
 * of a mail address never opens an account of Postern: the owner of that account has to prove it as in any login.
 */
export interface SignUp {
  /** The next step of a login with this account. */
  continueWith(account: ProviderAccount, answer: ChallengeAnswer): Promise<Outcome>;
  /** What a login with this account would do now. It sends and writes nothing. */
  foresee(provider: IdentityProvider, account: ProviderAccount): Promise<ForeseenLogin>;
  /** Evaluates the answer to a step that `continueWith` has asked for. Undefined: it is wrong. */
  answer(answer: ChallengeAnswer): Promise<Outcome | undefined>;
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
export type Outcome = { readonly userId: string; readonly link?: string } | NextChallenge | 'not_linked';

export interface SignUpOptions extends AddressCodeOptions, LinkStepOptions {
  readonly users: Pick<Users, 'prepare' | 'create' | 'getForUpdate'>;
  readonly notices: Pick<Notices, 'notify'>;
  /** Whether codes can be sent by mail. */
  readonly sendsMail: boolean;
}

const findOwner = statement<{ digest: Buffer }, { user_id: string }>(
  'sign_up_owner',
  (p) => sql`select user_id from identities where digest = ${p.digest}`,
);

/** Creates the steps of accounts that are linked to nobody. */
export function createSignUp(options: SignUpOptions): SignUp {
  const { database, users, notices, sendsMail } = options;
  const { encrypt, decrypt } = createAccountEncryption(options.keys);
  const addressCode = createAddressCode(options);
  const linkStep = createLinkStep(options);

  async function continueWith(account: ProviderAccount, answer: ChallengeAnswer): Promise<Outcome> {
    const address = addressOf(account);
    if (address === undefined) {
      return { userId: await createProviderUser(options, account, undefined, answer.origin) };
    }
    if (account.runsMailbox) return continueWithProven(account, address, answer);
    return sendsMail
      ? addressCode.ask(account, encrypt(account, answer.authenticationId), address, answer)
      : 'not_linked';
  }

  async function foresee({ signUp }: IdentityProvider, account: ProviderAccount): Promise<ForeseenLogin> {
    const userId = await findByExternalIdentity(database, account);
    if (userId !== undefined) return { outcome: 'logs_in', userId };
    if (!signUp) return { outcome: 'not_linked' };
    const address = addressOf(account);
    if (address === undefined) return { outcome: 'creates_user' };
    if (!account.runsMailbox) return { outcome: sendsMail ? 'asks_for_code' : 'not_linked' };
    const [owner] = await database.query(findOwner({ digest: identityDigest(address) }));
    if (owner === undefined) return { outcome: 'creates_user' };
    const { user } = await getAccount(database.user(owner.user_id), owner.user_id);
    const isUnproven = user?.unproven.email === address.canonical;
    const canLink = user !== undefined && (isUnproven || (await linkStep.authenticatorsOf(user)).length > 0);
    return { outcome: canLink ? 'asks_for_link' : 'not_linked' };
  }

  /** Nobody can read the mail of this address but its owner, who is at the other end. */
  async function continueWithProven(
    account: ProviderAccount,
    address: Identity,
    answer: ChallengeAnswer,
    hasCode = false,
  ): Promise<Outcome> {
    const [owner] = await database.query(findOwner({ digest: identityDigest(address) }));
    if (owner === undefined) return { userId: await createProviderUser(options, account, address, answer.origin) };
    // A parallel login of the same account may have made this user just now.
    const linked = await findByExternalIdentity(database, account);
    if (linked !== undefined) return { userId: linked };
    const { user } = await getAccount(database.user(owner.user_id), owner.user_id);
    if (user === undefined) return 'not_linked';
    const link = encrypt(account, answer.authenticationId);
    const authenticators = await linkStep.authenticatorsOf(user);
    // The code was sent to the address of the account, so it proves what a login by mail would prove.
    if (hasCode && authenticators.some(({ name }) => name === 'email')) return { userId: user.userId, link };
    const isUnproven = user.unproven.email === address.canonical;
    if (authenticators.length === 0 && !isUnproven) return 'not_linked';
    return linkStep.begin(user, authenticators, link, isUnproven);
  }

  async function answer(given: ChallengeAnswer): Promise<Outcome | undefined> {
    const { state, authenticationId } = given;
    const account = state.account === undefined ? undefined : decrypt(state.account, authenticationId);
    if (account === undefined) return undefined;
    if (state.step === 'code') {
      const address = await addressCode.check(account, given);
      return address && continueWithProven(account, address, given, true);
    }
    const result = await linkStep.answer(given);
    return result && 'userId' in result ? { ...result, link: encrypt(account, authenticationId) } : result;
  }

  async function link(userId: string, { id }: { readonly id: string }, text: string, origin: Origin): Promise<void> {
    const account = decrypt(text, id);
    if (account === undefined) throw new Problem('external_identity_taken');
    await database.user(userId).transaction(async (tx) => {
      await users.getForUpdate(tx, userId);
      await linkExternalIdentity(tx, userId, account, { origin, notices });
    });
  }

  return { continueWith, foresee, answer, link };
}

/** The mail address of an account at a provider, if it can be one of a user. */
const addressOf = ({ email }: ProviderAccount): Identity | undefined =>
  email === undefined ? undefined : canonicalIdentity('email', email, undefined);

/** Encrypts an account at a provider for the state of a login. */
function createAccountEncryption(keys: SecretKeys) {
  return {
    encrypt: (account: ProviderAccount, id: string) =>
      keys.encrypt(JSON.stringify(account), `account of ${id}`).toString('base64'),
    decrypt(text: string, id: string): ProviderAccount | undefined {
      const plain = keys.decrypt(Buffer.from(text, 'base64'), `account of ${id}`);
      return plain === undefined ? undefined : JSON.parse(plain);
    },
  };
}
