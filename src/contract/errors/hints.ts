import { type Text, text } from './text.js';

/** Hints that a message adds where the code alone does not say what to do. */
export const fieldHints = {
  pin_policy: text(
    'PIN_POLICY=required requires a PIN here. For a user without a PIN, any 4 to 12 digits are accepted.',
    'PIN_POLICY=required exige aquí un PIN. Para un usuario sin PIN se aceptan 4 a 12 dígitos cualesquiera.',
  ),
} as const satisfies Record<string, Text>;
export type FieldHint = keyof typeof fieldHints;

/** Hints for a request with another kind of token than its operation needs. */
export const problemHints = {
  session_token: text(
    'This operation needs a session token (pss_…). POST /v1/sessions returns one for an authentication token (psa_…).',
    'Esta operación necesita un token de sesión (pss_…). POST /v1/sessions devuelve uno para un token de autenticación (psa_…).',
  ),
  authentication_token: text(
    'This operation needs an authentication token (psa_…) with the scheme Basic. POST /v1/tokens returns one.',
    'Esta operación necesita un token de autenticación (psa_…) con el esquema Basic. POST /v1/tokens devuelve uno.',
  ),
  api_key: text(
    'This operation needs an API key (psk_…), or the session token (pss_…) of a user with a role.',
    'Esta operación necesita una clave de API (psk_…), o el token de sesión (pss_…) de un usuario con un rol.',
  ),
} as const satisfies Record<string, Text>;
export type ProblemHint = keyof typeof problemHints;
