import { changeOf } from '../audit/changes.js';
import { recordEvent } from '../audit/events.js';
import type { RegistrationAnswer } from '../contract/account/registration.js';
import type { ChallengeState } from '../credentials/challenge.js';
import { addPasskey, defaultPasskeyName } from '../credentials/factors/passkeys.js';
import {
  newPasskeyChallenge,
  type RegisteredCredential,
  type RelyingParty,
} from '../credentials/factors/relying-party.js';
import type { Transaction } from '../database/database.js';
import { newId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { Problem, throwIfErrors } from '../lib/problem.js';

/** What a registration keeps for a passkey. A passkey names its user, so the id of the user is known before there is one. */
export const newPasskeyState = () => ({ user: newId(), passkey: newPasskeyChallenge() });

/** Creates what a registration with a passkey needs before there is a user. */
export function createRegistrationPasskeys(relyingParty: Pick<RelyingParty, 'creationOptions' | 'readRegistration'>) {
  return {
    /** The options for the browser. @throws Problem `code_rejected` */
    options(state: ChallengeState, { username, name }: RegistrationAnswer): Promise<object> {
      const { user: userId, passkey: challenge, address = '' } = state;
      // An instance of an older release has started it.
      if (userId === undefined || challenge === undefined) throw new Problem('code_rejected');
      const owner = { userId, name: username ?? address, displayName: name ?? '' };
      return relyingParty.creationOptions(challenge, owner, []);
    },
    /** @throws Problem `validation_failed` for a response that is not valid */
    async read(state: ChallengeState, response: unknown): Promise<RegisteredCredential> {
      const credential = await relyingParty.readRegistration(response, state.passkey ?? newPasskeyChallenge());
      if (credential === undefined) throwIfErrors([{ field: 'passkey', code: 'invalid_passkey' }]);
      return credential as RegisteredCredential;
    },
  };
}

/** Stores the passkey of a new user. */
export async function enrolPasskey(
  tx: Transaction,
  userId: string,
  credential: RegisteredCredential,
  origin: Origin,
): Promise<void> {
  const passkey = await addPasskey(tx, userId, defaultPasskeyName, credential);
  const data = { passkey_id: passkey?.id };
  const changes = changeOf('passkey', null, defaultPasskeyName);
  await recordEvent(tx, { userId, type: 'passkey.enrolled', origin, data, changes });
}
