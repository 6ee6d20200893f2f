import type { SecretKeys } from '../../lib/secret-keys.js';
import type { TwoStep } from './authenticator.js';
import { codeAuthenticator } from './code.js';

/** A six-digit code by mail. */
export function emailAuthenticator(keys: SecretKeys): TwoStep {
  return codeAuthenticator(keys, 'email', ({ email }) => email);
}
