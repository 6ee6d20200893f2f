import type { Proof } from '../../contract/account.js';
import type { NewPasskey, Passkey, PasskeyRequest } from '../../contract/factors.js';
import type { Database } from '../../database/database.js';
import { newId } from '../../lib/ids.js';
import { Problem } from '../../lib/problem.js';
import { recordEvent } from '../events/events.js';
import { endWithoutFactors } from '../factors/last-factor.js';
import {
  addPasskey,
  listPasskeys,
  maxPasskeys,
  passkeyDescriptors,
  removePasskeys,
  renamePasskey,
} from '../factors/passkeys.js';
import { newPasskeyChallenge, passkeyLifetime, type RelyingParty } from '../factors/relying-party.js';
import type { Notices } from '../messages/notices.js';
import { activateRole, linkKept } from '../users/enrollment-links.js';
import type { Users } from '../users/users.js';
import { beginChallenge, endChallenge, endChallenges, takeChallengeGuess } from './challenges.js';
import type { PinRecoveries } from './pin-recoveries.js';
import { holdProver, type Proofs, type Prover, usualProofs } from './proofs.js';

/** One's own passkeys. */
export interface OwnPasskeys {
  list(userId: string): Promise<Passkey[]>;
  /** @throws Problem `validation_failed` with as many as there may be, `enrollment_link_rejected`; those of proofs */
  begin(prover: Prover, request: PasskeyRequest): Promise<NewPasskey>;
  /** @throws Problem `proof_rejected`, `enrollment_link_rejected` */
  enrol(prover: Prover, id: string, response: unknown): Promise<Passkey>;
  /** @throws Problem `not_found` */
  rename(userId: string, id: string, name: string): Promise<Passkey>;
  /** @throws Problem `not_found`; those of proofs */
  remove(prover: Prover, id: string, proof: Proof): Promise<void>;
}

export interface OwnPasskeysOptions {
  readonly database: Database;
  readonly relyingParty: RelyingParty;
  readonly proofs: Proofs;
  readonly users: Pick<Users, 'get'>;
  readonly notices: Pick<Notices, 'notify'>;
  readonly pinRecoveries: Pick<PinRecoveries, 'guard'>;
}

const defaultName = 'Passkey';

export function createOwnPasskeys(options: OwnPasskeysOptions): OwnPasskeys {
  const { database, relyingParty, proofs, users, notices, pinRecoveries } = options;
  return {
    list: (userId) => listPasskeys(database, userId),
    async begin(prover, { proof, name = defaultName, enrollment_secret: linkSecret }) {
      const { userId, deviceId } = prover;
      const user = await users.get(userId);
      const existing = await passkeyDescriptors(database, userId);
      if (existing.length >= maxPasskeys) {
        throw new Problem('validation_failed', { errors: [{ code: 'too_many_items', params: { max: maxPasskeys } }] });
      }
      const link = await linkKept(database.lane(userId), userId, linkSecret);
      const proven = await proofs.check(prover, proof, usualProofs);
      const challenge = newPasskeyChallenge();
      const owner = { userId, name: user.username ?? user.email ?? user.phone ?? userId, displayName: user.name };
      const options = await relyingParty.creationOptions(challenge, owner, existing);
      const begun = await database.lane(userId).transaction(async (tx) => {
        await proven.use(tx);
        const asked = { userId, id: newId(), purpose: 'passkey', deviceId, lifetime: passkeyLifetime } as const;
        return beginChallenge(tx, { ...asked, kept: { challenge, name, proof: proven.type, ...link } });
      });
      return { ...begun, options: { ...options } };
    },
    async enrol(prover, id, response) {
      const { userId, deviceId, origin } = prover;
      const address = { userId, id, purpose: 'passkey', deviceId } as const;
      const kept = await takeChallengeGuess(database.lane(userId), address);
      const credential = await relyingParty.readRegistration(response, kept?.challenge ?? newPasskeyChallenge());
      if (kept === undefined || credential === undefined) throw new Problem('proof_rejected');
      return database.lane(userId).transaction(async (tx) => {
        await holdProver(tx, prover);
        if (!(await endChallenge(tx, address))) throw new Problem('proof_rejected');
        const passkey = await addPasskey(tx, userId, kept.name ?? defaultName, credential);
        if (passkey === undefined) throw new Problem('proof_rejected');
        if (kept.link !== undefined) await activateRole(tx, userId, kept.link, origin);
        await endChallenges(tx, userId);
        if (kept.proof === 'code') await pinRecoveries.guard(tx, userId, kept.proof);
        await recordEvent(tx, { userId, type: 'passkey.enrolled', origin, data: { passkey_id: passkey.id } });
        await notices.notify(tx, { userId, kind: 'passkey_added', origin });
        return passkey;
      });
    },
    async rename(userId, id, name) {
      const passkey = await renamePasskey(database.lane(userId), userId, id, name);
      if (passkey === undefined) throw new Problem('not_found');
      return passkey;
    },
    async remove(prover, id, proof) {
      const { userId, origin } = prover;
      const proven = await proofs.check(prover, proof, usualProofs);
      await database.lane(userId).transaction(async (tx) => {
        await proven.use(tx);
        if ((await removePasskeys(tx, userId, id)) === 0) throw new Problem('not_found');
        await endWithoutFactors(tx, userId);
        await endChallenges(tx, userId);
        await recordEvent(tx, { userId, type: 'passkey.removed', origin, data: { passkey_id: id } });
        await notices.notify(tx, { userId, kind: 'passkey_removed', origin });
      });
    },
  };
}
