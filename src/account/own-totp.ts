import { recordEvent } from '../audit/events.js';
import type { EnrollmentRequest, NewTotp, RecoveryCodes } from '../contract/account/factors.js';
import type { Proof } from '../contract/account/proof.js';
import { countChallengeGuess, endChallenges, startChallenge } from '../credentials/challenges.js';
import { cleanUpAfterLastFactor } from '../credentials/factors/last-factor.js';
import { hasRecoveryCodes, replaceRecoveryCodes } from '../credentials/factors/recovery-codes.js';
import { findStepOfNewSecret, newTotpSecret, removeTotp, saveTotp } from '../credentials/factors/totp.js';
import type { Database } from '../database/database.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import { newId } from '../lib/ids.js';
import { Problem } from '../lib/problem.js';
import type { Notices } from '../messages/notices.js';
import { activateRole, storedLink } from '../users/enrollment-links.js';
import type { Users } from '../users/users.js';
import type { PinRecoveries } from './pin-recoveries.js';
import { type CallingSession, completeChallenge, defaultProofs, type Proofs } from './proofs.js';

/** The user's own authenticator app and recovery codes. Changes do not end other logins. */
export interface OwnTotp {
  /**
   * Makes a secret. It has no effect until a code confirms it.
   * @throws Problem `enrollment_link_rejected`; those of `Proofs.check`
   */
  begin(callingSession: CallingSession, request: EnrollmentRequest): Promise<NewTotp>;
  /**
   * Stores the app, and replaces an earlier one.
   * @returns new recovery codes if the user had none
   * @throws Problem `proof_rejected`, `enrollment_link_rejected`
   */
  confirm(callingSession: CallingSession, id: string, code: string): Promise<RecoveryCodes>;
  /** @throws Problem `not_found`; those of `Proofs.check` */
  remove(callingSession: CallingSession, proof: Proof): Promise<void>;
  /** Replaces all recovery codes. @throws Problem `not_found` without a second factor; those of `Proofs.check` */
  renewRecoveryCodes(callingSession: CallingSession, proof: Proof): Promise<RecoveryCodes>;
}

export interface OwnTotpOptions {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly proofs: Proofs;
  readonly users: Pick<Users, 'get'>;
  readonly notices: Pick<Notices, 'notify'>;
  readonly pinRecoveries: Pick<PinRecoveries, 'requirePinAfterCode'>;
  /** The issuer that the app shows with its codes. */
  readonly issuer: string;
}

/** Seconds to scan the QR code and enter a code. */
const lifetimeSeconds = 600;

/** Creates self-service for the authenticator app and the recovery codes. */
export function createOwnTotp(options: OwnTotpOptions): OwnTotp {
  const { database, keys, proofs, users, notices, pinRecoveries, issuer } = options;
  return {
    async begin(callingSession, { proof, enrollment_secret: linkSecret }) {
      const { userId, deviceId } = callingSession;
      const user = await users.get(userId);
      const link = await storedLink(database.user(userId), userId, linkSecret);
      const proven = await proofs.check(callingSession, proof, defaultProofs);
      const { id, username, email, phone } = user;
      const { encrypted, ...shown } = newTotpSecret(keys, userId, {
        issuer,
        account: username ?? email ?? phone ?? id,
      });
      const state = { secret: encrypted.toString('base64'), proof: proven.type, ...link };
      const challenge = await database.user(userId).transaction(async (tx) => {
        await proven.consume(tx);
        return startChallenge(tx, { userId, id: newId(), purpose: 'totp', state, lifetime: lifetimeSeconds, deviceId });
      });
      return { ...challenge, ...shown };
    },
    async confirm(callingSession, id, code) {
      const { userId, deviceId, origin } = callingSession;
      const state = await countChallengeGuess(database.user(userId), { userId, id, purpose: 'totp', deviceId });
      if (state === undefined) throw new Problem('proof_rejected');
      const encrypted = Buffer.from(state.secret ?? '', 'base64');
      const step = await findStepOfNewSecret(database.user(userId), keys, userId, { encrypted, code });
      if (step === undefined) throw new Problem('proof_rejected');
      return database.user(userId).transaction(async (tx) => {
        await completeChallenge(tx, callingSession, id, 'proof_rejected');
        await saveTotp(tx, userId, encrypted, step);
        if (state.link !== undefined) await activateRole(tx, userId, state.link, origin);
        await endChallenges(tx, userId);
        if (state.proof === 'code') await pinRecoveries.requirePinAfterCode(tx, userId, state.proof);
        await recordEvent(tx, { userId, type: 'totp.enrolled', origin });
        await notices.notify(tx, { userId, kind: 'totp_added', origin });
        const recovery_codes = (await hasRecoveryCodes(tx, userId)) ? [] : await replaceRecoveryCodes(tx, keys, userId);
        return { recovery_codes };
      });
    },
    async remove(callingSession, proof) {
      const { userId, origin } = callingSession;
      const proven = await proofs.check(callingSession, proof, defaultProofs);
      await database.user(userId).transaction(async (tx) => {
        await proven.consume(tx);
        if (!(await removeTotp(tx, userId))) throw new Problem('not_found');
        await cleanUpAfterLastFactor(tx, userId);
        await endChallenges(tx, userId);
        await recordEvent(tx, { userId, type: 'totp.removed', origin });
        await notices.notify(tx, { userId, kind: 'totp_removed', origin });
      });
    },
    async renewRecoveryCodes(callingSession, proof) {
      const { userId, origin } = callingSession;
      const user = await users.get(userId);
      if (user.second_factors.length === 0) throw new Problem('not_found');
      const proven = await proofs.check(callingSession, proof, defaultProofs);
      return database.user(userId).transaction(async (tx) => {
        await proven.consume(tx);
        const recovery_codes = await replaceRecoveryCodes(tx, keys, userId);
        await pinRecoveries.requirePinAfterCode(tx, userId, proven.type);
        await recordEvent(tx, { userId, type: 'recovery_codes.made', origin });
        await notices.notify(tx, { userId, kind: 'recovery_codes_made', origin });
        return { recovery_codes };
      });
    },
  };
}
