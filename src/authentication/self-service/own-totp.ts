import { randomBytes } from 'node:crypto';
import type { Proof } from '../../contract/account.js';
import type { EnrollmentRequest, NewTotp, RecoveryCodes } from '../../contract/factors.js';
import type { User } from '../../contract/user.js';
import type { Database } from '../../database/database.js';
import { newId } from '../../lib/ids.js';
import { Problem } from '../../lib/problem.js';
import type { SecretKeys } from '../../lib/secret-keys.js';
import { base32, totpPeriod } from '../../lib/totp.js';
import { recordEvent } from '../events/events.js';
import { endWithoutFactors } from '../factors/last-factor.js';
import { hasRecoveryCodes, replaceRecoveryCodes } from '../factors/recovery-codes.js';
import { putTotp, removeTotp, sealTotpSecret, stepOfNewSecret } from '../factors/totp.js';
import type { Notices } from '../messages/notices.js';
import { activateRole, linkKept } from '../users/enrollment-links.js';
import type { Users } from '../users/users.js';
import { beginChallenge, endChallenge, endChallenges, takeChallengeGuess } from './challenges.js';
import type { PinRecoveries } from './pin-recoveries.js';
import { holdProver, type Proofs, type Prover, usualProofs } from './proofs.js';

/** One's own authenticator app and recovery codes. Other logins go on: they were let in by what counted then. */
export interface OwnTotp {
  /**
   * Makes a secret, which counts for nothing until a code confirms it.
   * @throws Problem `enrollment_link_rejected`; those of proofs
   */
  begin(prover: Prover, request: EnrollmentRequest): Promise<NewTotp>;
  /**
   * Makes the app the user's, in place of one that there was.
   * @returns recovery codes, where there were none yet.
   * @throws Problem `proof_rejected`, `enrollment_link_rejected`
   */
  confirm(prover: Prover, id: string, code: string): Promise<RecoveryCodes>;
  /** @throws Problem `not_found`; those of proofs */
  remove(prover: Prover, proof: Proof): Promise<void>;
  /** New codes in place of all old ones. @throws Problem `not_found` without a second factor; those of proofs */
  renewRecoveryCodes(prover: Prover, proof: Proof): Promise<RecoveryCodes>;
}

export interface OwnTotpOptions {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly proofs: Proofs;
  readonly users: Pick<Users, 'get'>;
  readonly notices: Pick<Notices, 'notify'>;
  readonly pinRecoveries: Pick<PinRecoveries, 'guard'>;
  /** What the app shows beside the codes. */
  readonly issuer: string;
}

/** Bytes: 160 bits, as much as SHA-1 makes use of (RFC 4226, section 4). */
const secretLength = 20;
/** Seconds to scan a QR code and type what comes of it. */
const lifetime = 600;

export function createOwnTotp(options: OwnTotpOptions): OwnTotp {
  const { database, keys, proofs, users, notices, pinRecoveries, issuer } = options;
  const addressOf = ({ userId, deviceId }: Prover, id: string) => ({ userId, id, purpose: 'totp', deviceId }) as const;

  return {
    async begin(prover, { proof, enrollment_secret: linkSecret }) {
      const { userId, deviceId } = prover;
      const user = await users.get(userId);
      const link = await linkKept(database.lane(userId), userId, linkSecret);
      const proven = await proofs.check(prover, proof, usualProofs);
      const secret = randomBytes(secretLength);
      const sealed = sealTotpSecret(keys, userId, secret).toString('base64');
      const kept = { secret: sealed, proof: proven.type, ...link };
      const begun = await database.lane(userId).transaction(async (tx) => {
        await proven.use(tx);
        return beginChallenge(tx, { userId, id: newId(), purpose: 'totp', kept, lifetime, deviceId });
      });
      return { ...begun, secret: base32(secret), uri: otpauthUri(issuer, user, base32(secret)) };
    },
    async confirm(prover, id, code) {
      const { userId, origin } = prover;
      const address = addressOf(prover, id);
      const kept = await takeChallengeGuess(database.lane(userId), address);
      if (kept === undefined) throw new Problem('proof_rejected');
      const sealed = Buffer.from(kept.secret ?? '', 'base64');
      const step = await stepOfNewSecret(database, keys, userId, { sealed, code });
      if (step === undefined) throw new Problem('proof_rejected');
      return database.lane(userId).transaction(async (tx) => {
        await holdProver(tx, prover);
        if (!(await endChallenge(tx, address))) throw new Problem('proof_rejected');
        await putTotp(tx, userId, sealed, step);
        if (kept.link !== undefined) await activateRole(tx, userId, kept.link, origin);
        await endChallenges(tx, userId);
        if (kept.proof === 'code') await pinRecoveries.guard(tx, userId, kept.proof);
        await recordEvent(tx, { userId, type: 'totp.enrolled', origin });
        await notices.notify(tx, { userId, kind: 'totp_added', origin });
        const recovery_codes = (await hasRecoveryCodes(tx, userId)) ? [] : await replaceRecoveryCodes(tx, keys, userId);
        return { recovery_codes };
      });
    },
    async remove(prover, proof) {
      const { userId, origin } = prover;
      const proven = await proofs.check(prover, proof, usualProofs);
      await database.lane(userId).transaction(async (tx) => {
        await proven.use(tx);
        if (!(await removeTotp(tx, userId))) throw new Problem('not_found');
        await endWithoutFactors(tx, userId);
        await endChallenges(tx, userId);
        await recordEvent(tx, { userId, type: 'totp.removed', origin });
        await notices.notify(tx, { userId, kind: 'totp_removed', origin });
      });
    },
    async renewRecoveryCodes(prover, proof) {
      const { userId, origin } = prover;
      const user = await users.get(userId);
      if (user.second_factors.length === 0) throw new Problem('not_found');
      const proven = await proofs.check(prover, proof, usualProofs);
      return database.lane(userId).transaction(async (tx) => {
        await proven.use(tx);
        const recovery_codes = await replaceRecoveryCodes(tx, keys, userId);
        await pinRecoveries.guard(tx, userId, proven.type);
        await recordEvent(tx, { userId, type: 'recovery_codes.made', origin });
        await notices.notify(tx, { userId, kind: 'recovery_codes_made', origin });
        return { recovery_codes };
      });
    },
  };
}

/** As authenticator apps read it from a QR code. */
function otpauthUri(issuer: string, { id, username, email, phone }: User, secret: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(username ?? email ?? phone ?? id)}`;
  const rules = `algorithm=SHA1&digits=6&period=${totpPeriod}`;
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}&${rules}`;
}
