import { randomInt } from 'node:crypto';
import type { SecretKeys } from '../../lib/secret-keys.js';
import type { TwoStep } from './authenticator.js';

/** Seconds (ASVS 6.5: codes live minutes, not hours). */
const codeLifetime = 300;

/** A six-digit code by SMS, bound to its authentication. */
export function smsAuthenticator(keys: SecretKeys): TwoStep {
  const bound = (authenticationId: string, code: string) => `${authenticationId}:${code}`;
  return {
    name: 'sms',
    steps: 2,
    async begin(candidate, authenticationId) {
      const code = String(randomInt(1_000_000)).padStart(6, '0');
      return {
        // Six digits are soon tried out: only a keyed digest keeps a stolen database from showing them.
        kept: { code: keys.digest('code', bound(authenticationId, code)).toString('base64') },
        lifetime: codeLifetime,
        message: { channel: 'sms', recipient: candidate?.phone, code },
      };
    },
    async verify({ kept, authenticationId, secret }) {
      return keys.matches('code', bound(authenticationId, secret), Buffer.from(kept.code ?? '', 'base64'));
    },
  };
}
