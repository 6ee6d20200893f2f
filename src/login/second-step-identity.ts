import type { NextChallenge } from '../credentials/challenge.js';
import type { Database } from '../database/database.js';
import { getAccount } from '../identities/accounts.js';
import type { Origin } from '../lib/origin.js';
import type { Counters } from '../statistics/counters.js';
import { type Authenticator, identifiesUser } from './authenticators/authenticator.js';
import type { CodeMessages } from './code-messages.js';
import { type LoginResult, withChallenge } from './completion.js';
import { rejection } from './login-request.js';
import {
  type AuthenticationOwner,
  assignAuthentication,
  awaitNextStep,
  type OpenAuthentication,
  rejectAuthentication,
  takeAuthenticationGuess,
} from './open-authentications.js';
import type { Evaluated, SecretChecks } from './second-step-secret.js';

interface IdentificationOptions {
  readonly database: Database;
  readonly counters: Counters;
  readonly messages: CodeMessages;
  /** Called after a message is written and committed. */
  readonly onMessageWritten: () => void;
}

/** Creates the identification of the user of a login that began without an identity. */
export function createIdentification(
  { database, counters, messages, onMessageWritten }: IdentificationOptions,
  registry: ReadonlyMap<string, Authenticator>,
  { countAndReject, refuse }: Pick<SecretChecks, 'countAndReject' | 'refuse'>,
) {
  function awaitsIdentification({ authenticator: name, factor, status }: AuthenticationOwner): boolean {
    const authenticator = registry.get(name);
    return authenticator !== undefined && identifiesUser(authenticator) && factor === 1 && status !== 'approved';
  }

  /**
   * Identifies the user of a login, and assigns the login to that user. An invalid answer counts only against this
   * authentication. Otherwise an attacker could use up a victim's guesses with false answers that name the victim.
   */
  async function identify(
    owner: AuthenticationOwner,
    { secret, humanCheck }: { readonly secret: string; readonly humanCheck?: string | undefined },
    origin: Origin,
  ): Promise<Evaluated | { readonly pending: LoginResult }> {
    const open = await takeAuthenticationGuess(database.user(owner.userId), owner, undefined);
    const authenticator = registry.get(owner.authenticator);
    if (open === undefined || authenticator === undefined || !identifiesUser(authenticator))
      throw countAndReject(owner.id);
    const since = performance.now();
    const identified = await authenticator.identify({
      state: open.challenge,
      authenticationId: open.id,
      deviceId: owner.deviceId,
      secret,
      origin,
      humanCheck,
    });
    if (identified === 'not_linked') {
      await rejectAuthentication(database.user(open.user_id), open, origin, 'not_linked');
      counters.add('logins.failed', 'not_linked', 1, open.authenticator);
      throw rejection(owner.id, { errors: [{ field: 'secret', code: 'not_linked' }] }, 'not_linked');
    }
    if (identified !== undefined && 'next' in identified)
      return { pending: await continueWith(open, identified, origin) };
    const { user } =
      identified === undefined
        ? { user: undefined }
        : await getAccount(database.user(identified.userId), identified.userId);
    if (identified === undefined || user === undefined) {
      await refuse({ open, since }, undefined, secret, origin);
      throw rejection(owner.id);
    }
    const assigned = await assignAuthentication(database, open, user);
    if (assigned === undefined) throw countAndReject(owner.id);
    if ((await identified.consume?.()) === false) {
      await refuse({ open: assigned, since }, user, secret, origin);
      throw rejection(owner.id);
    }
    const { secondFactor: proven = identified.isMultiFactor ? authenticator.name : null } = identified;
    const secondFactor = proven ?? undefined;
    const done = identified.isMultiFactor ? 'second_factor' : 'first';
    return { open: assigned, isRight: true, done, since, secondFactor, link: identified.link };
  }

  /** Stores the next challenge of a login whose user is not known yet, with its message. */
  async function continueWith(
    open: OpenAuthentication,
    { next, recipient, isSameStep }: NextChallenge,
    origin: Origin,
  ): Promise<LoginResult> {
    const message =
      recipient &&
      (await messages.admit(
        next.message,
        { userId: recipient.userId, knownDevice: undefined, origin },
        recipient.identity,
      ));
    const guesses = isSameStep ? open.guesses : 0;
    const waiting = { ...next, guesses, message, factor: 1, hasNewEpoch: false } as const;
    const record = await awaitNextStep(database.user(open.user_id), open, waiting);
    if (record === undefined) throw countAndReject(open.id);
    if (message !== undefined) onMessageWritten();
    return withChallenge(record, next, message);
  }

  return { awaitsIdentification, identify };
}
