import { type Text, text } from './text.js';

/** The values of `error_code` in an authentication. It is the empty string when there is no error. */
export const authenticationErrors = {
  invalid_credentials: text(
    'The identity, the secret or the PIN is wrong.',
    'La identidad, el secreto o el PIN es incorrecto.',
  ),
  not_linked: text(
    'No user is linked to this account. Sign in another way, and link the account there.',
    'Ningún usuario está vinculado a esta cuenta. Inicia sesión de otra manera y vincula la cuenta.',
  ),
  authorization_rejected: text('That code is wrong or has expired.', 'Ese código es incorrecto o ha caducado.'),
} as const satisfies Record<string, Text>;
export type AuthenticationErrorCode = keyof typeof authenticationErrors;
