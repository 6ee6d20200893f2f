import { type Text, text } from './text.js';

/** Hints that the message of a field error ends with if its error code alone does not say what to do. */
export const fieldHints = {
  pin_policy: text(
    'PIN_POLICY=required requires a PIN here. If the user has no PIN, send any 4 to 12 digits.',
    'PIN_POLICY=required exige aquí un PIN. Si el usuario no tiene PIN, envía de 4 a 12 dígitos cualesquiera.',
  ),
} as const satisfies Record<string, Text>;
export type FieldHint = keyof typeof fieldHints;

/** Hints for a request whose token has the wrong kind, and for a DPoP proof that is not valid. */
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
  dpop_missing: text(
    'Send a proof for this request in the header DPoP (RFC 9449).',
    'Envía una prueba de esta solicitud en la cabecera DPoP (RFC 9449).',
  ),
  dpop_unsigned: text(
    'The header DPoP must hold one JWT of the type dpop+jwt, signed with ES256 or EdDSA by the key in its header.',
    'La cabecera DPoP debe contener un JWT del tipo dpop+jwt, firmado con ES256 o EdDSA por la clave de su cabecera.',
  ),
  dpop_other_key: text('Another key signed the proof.', 'La prueba está firmada por otra clave.'),
  dpop_claims: text(
    'The proof needs the claims htm, htu, iat, jti, ath and nonce.',
    'La prueba necesita los campos htm, htu, iat, jti, ath y nonce.',
  ),
  dpop_target: text(
    'The proof is for another request: htm must be the method, and htu must be {url}.',
    'La prueba es de otra solicitud: htm debe ser el método, y htu debe ser {url}.',
  ),
  dpop_token: text(
    'The proof is for another token: ath must be the SHA-256 of this token in base64url.',
    'La prueba es de otro token: ath debe ser el SHA-256 de este token en base64url.',
  ),
  dpop_time: text(
    'The claim iat must be between the time at the start of the nonce and the current time of the server, with a tolerance of 5 minutes.',
    'El campo iat debe estar entre la hora con la que empieza el nonce y la hora actual del servidor, con una tolerancia de 5 minutos.',
  ),
  dpop_used: text(
    'The proof was used before. Create a new one for each request.',
    'La prueba ya se usó. Crea una nueva para cada solicitud.',
  ),
} as const satisfies Record<string, Text>;
export type ProblemHint = keyof typeof problemHints;
