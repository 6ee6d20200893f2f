import type { SecretKeys } from '../../lib/secret-keys.js';
import type { TwoStep } from './authenticator.js';
import { codeAuthenticator } from './code.js';

/** A six-digit code by SMS. */
export function smsAuthenticator(keys: SecretKeys): TwoStep {
  return codeAuthenticator(keys, 'sms', ({ phone }) => phone);
}
