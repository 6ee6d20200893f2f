import { randomInt } from 'node:crypto';
import type { SecretKeys } from '../lib/secret-keys.js';
import type { ChallengeState } from './authenticators/authenticator.js';

/** Seconds (ASVS 6.5: codes live minutes, not hours). */
export const codeLifetime = 300;

/** A six-digit code, and what is kept of it: a digest under SECRET_KEY, since six digits are soon tried out. */
export function newCode(keys: SecretKeys, challengeId: string): { readonly code: string; readonly kept: string } {
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  return { code, kept: keys.digest('code', bound(challengeId, code)).toString('base64') };
}

/** Whether this is the code of the challenge: a code counts for the challenge that it was made for alone. */
export function codeIsRight(keys: SecretKeys, challengeId: string, kept: ChallengeState, secret: string): boolean {
  return keys.matches('code', bound(challengeId, secret), Buffer.from(kept.code ?? '', 'base64'));
}

const bound = (challengeId: string, code: string) => `${challengeId}:${code}`;
