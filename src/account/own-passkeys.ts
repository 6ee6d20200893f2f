import { changeOf } from '../audit/changes.js';
import { recordEvent } from '../audit/events.js';
import type { NewPasskey, Passkey, PasskeyRequest } from '../contract/account/factors.js';
import type { Proof } from '../contract/account/proof.js';
import { countChallengeGuess, endChallenges, startChallenge } from '../credentials/challenges.js';
import { cleanUpAfterLastFactor } from '../credentials/factors/last-factor.js';
import {
  addPasskey,
  defaultPasskeyName,
  listPasskeys,
  maxPasskeys,
  passkeyDescriptors,
  removePasskeys,
  renamePasskey,
} from '../credentials/factors/passkeys.js';
import { newPasskeyChallenge, passkeyLifetime, type RelyingParty } from '../credentials/factors/relying-party.js';
import type { Database } from '../database/database.js';
import { newId } from '../lib/ids.js';
import { Problem } from '../lib/problem.js';
import type { Notices } from '../messages/notices.js';
import { activateRole, storedLink } from '../users/enrollment-links.js';
import { endGuest } from '../users/queries.js';
import type { Users } from '../users/users.js';
import type { PinRecoveries } from './pin-recoveries.js';
import { type CallingSession, completeChallenge, defaultProofs, firstCredentialProofs, type Proofs } from './proofs.js';

/** The user's own passkeys. */
export interface OwnPasskeys {
  list(userId: string): Promise<Passkey[]>;
  /** @throws Problem `validation_failed` at the maximum number; `enrollment_link_rejected`; those of `Proofs.check` */
  begin(callingSession: CallingSession, request: PasskeyRequest): Promise<NewPasskey>;
  /** @throws Problem `proof_rejected`, `enrollment_link_rejected` */
  enrol(callingSession: CallingSession, id: string, response: unknown): Promise<Passkey>;
  /** @throws Problem `not_found` */
  rename(userId: string, id: string, name: string): Promise<Passkey>;
  /** @throws Problem `not_found`; those of `Proofs.check` */
  remove(callingSession: CallingSession, id: string, proof: Proof): Promise<void>;
}

export interface OwnPasskeysOptions {
  readonly database: Database;
  readonly relyingParty: RelyingParty;
  readonly proofs: Proofs;
  readonly users: Pick<Users, 'get'>;
  readonly notices: Pick<Notices, 'notify'>;
  readonly pinRecoveries: Pick<PinRecoveries, 'requirePinAfterCode'>;
}

/** Creates self-service for passkeys. */
export function createOwnPasskeys(options: OwnPasskeysOptions): OwnPasskeys {
  const { database, relyingParty, proofs, users, notices, pinRecoveries } = options;
  return {
    list: (userId) => listPasskeys(database.user(userId), userId),
    async begin(callingSession, { proof, name = defaultPasskeyName, enrollment_secret: linkSecret }) {
      const { userId, deviceId } = callingSession;
      const user = await users.get(userId);
      const existing = await passkeyDescriptors(database.user(userId), userId);
      if (existing.length >= maxPasskeys) {
        throw new Problem('validation_failed', { errors: [{ code: 'too_many_items', params: { max: maxPasskeys } }] });
      }
      const link = await storedLink(database.user(userId), userId, linkSecret);
      const proven = await proofs.check(callingSession, proof, firstCredentialProofs);
      const challenge = newPasskeyChallenge();
      const owner = { userId, name: user.username ?? user.email ?? user.phone ?? userId, displayName: user.name };
      const options = await relyingParty.creationOptions(challenge, owner, existing);
      const started = await database.user(userId).transaction(async (tx) => {
        await proven.consume(tx);
        return startChallenge(tx, {
          userId,
          id: newId(),
          purpose: 'passkey',
          deviceId,
          lifetime: passkeyLifetime,
          state: { challenge, name, proof: proven.type, ...link },
        });
      });
      return { ...started, options: { ...options } };
    },
    async enrol(callingSession, id, response) {
      const { userId, deviceId, origin } = callingSession;
      const address = { userId, id, purpose: 'passkey', deviceId } as const;
      const state = await countChallengeGuess(database.user(userId), address);
      const credential = await relyingParty.readRegistration(response, state?.challenge ?? newPasskeyChallenge());
      if (state === undefined || credential === undefined) throw new Problem('proof_rejected');
      return database.user(userId).transaction(async (tx) => {
        await completeChallenge(tx, callingSession, id, 'proof_rejected');
        const passkey = await addPasskey(tx, userId, state.name ?? defaultPasskeyName, credential);
        if (passkey === undefined) throw new Problem('proof_rejected');
        if (state.link !== undefined) await activateRole(tx, userId, state.link, origin);
        await endGuest(tx, userId);
        await endChallenges(tx, userId);
        if (state.proof === 'code') await pinRecoveries.requirePinAfterCode(tx, userId, state.proof);
        const changes = changeOf('passkey', null, passkey.name);
        await recordEvent(tx, { userId, type: 'passkey.enrolled', origin, data: { passkey_id: passkey.id }, changes });
        await notices.notify(tx, { userId, kind: 'passkey_added', origin });
        return passkey;
      });
    },
    async rename(userId, id, name) {
      const passkey = await renamePasskey(database.user(userId), userId, id, name);
      if (passkey === undefined) throw new Problem('not_found');
      return passkey;
    },
    async remove(callingSession, id, proof) {
      const { userId, origin } = callingSession;
      const proven = await proofs.check(callingSession, proof, defaultProofs);
      await database.user(userId).transaction(async (tx) => {
        await proven.consume(tx);
        const [name] = await removePasskeys(tx, userId, id);
        if (name === undefined) throw new Problem('not_found');
        await cleanUpAfterLastFactor(tx, userId);
        await endChallenges(tx, userId);
        const changes = changeOf('passkey', name, null);
        await recordEvent(tx, { userId, type: 'passkey.removed', origin, data: { passkey_id: id }, changes });
        await notices.notify(tx, { userId, kind: 'passkey_removed', origin });
      });
    },
  };
}
