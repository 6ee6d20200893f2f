import type { Text } from './text.js';

/**
 * The errors of the service: the only source for the HTTP status, the texts in each language, `docs/errors.md` and the
 * OpenAPI document. Codes are stable; texts may change.
 */

interface ErrorDefinition {
  /** HTTP status of a problem with this code. */
  readonly status: number;
  /** What went wrong, in one sentence. A placeholder such as `{scope}` is replaced by the parameter of that name. */
  readonly message: Text;
  /** For the documentation: the causes, and what the caller can do. */
  readonly remedy: string;
}

const error = (status: number, en: string, es: string, remedy: string): ErrorDefinition => ({
  status,
  message: { en, es },
  remedy,
});

/**
 * Problems. The `type` of an error response is `urn:postern:problem:` and one of these codes. If the response has no field
 * errors, this code is also in `errors[0].code`.
 */
export const errors = {
  malformed_request: error(
    400,
    'The request could not be understood.',
    'No se pudo entender la solicitud.',
    'The URL, a header or the form of the body is not valid HTTP. Fix the client.',
  ),
  https_required: error(
    400,
    'This service takes requests by https only.',
    'Este servicio solo acepta solicitudes por https.',
    'The proxy reports plain http, but PUBLIC_URL is https. Call the https URL. If you did, let the proxy send `X-Forwarded-Proto: https`.',
  ),
  malformed_json: error(
    400,
    'The body is not valid JSON.',
    'El cuerpo no es JSON válido.',
    'Send one JSON value in UTF-8, nested at most 32 levels deep.',
  ),
  authorization_rejected: error(
    400,
    'That code is wrong or has expired.',
    'Ese código es incorrecto o ha caducado.',
    'The code or PIN is wrong, or the authentication has expired, has no guesses left or does not exist. The response does not say which, except `code_used` for a code of an authenticator app that was used before. Retry, or start a new login.',
  ),
  proof_rejected: error(
    400,
    'That proof is wrong or has expired.',
    'Esa prueba es incorrecta o ha caducado.',
    'The proof is wrong, has expired, was used before, or belongs to another device. The response does not say which, except `code_used`, and `password_wrong` for a wrong current password beside a proof, which stays valid. Start a new proof.',
  ),
  enrollment_link_rejected: error(
    400,
    'That link is not valid, was used before or has expired.',
    'Ese enlace no es válido, ya se usó o ha caducado.',
    'The link belongs to another account, was used or replaced, or is older than 30 minutes. Ask an operator for a new link.',
  ),
  setup_link_unknown: error(
    400,
    'This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`.',
    'Este enlace de configuración no existe. Comprueba que la dirección esté completa, o crea un enlace nuevo con `postern operators invite`.',
    'A part of the address is missing, or the link expired more than a week ago. `postern operators invite --role operator` prints a new one.',
  ),
  setup_link_used: error(
    400,
    'This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.',
    'Este enlace de configuración ya se usó. Si lo usaste tú, inicia sesión. Si no, crea un enlace nuevo con `postern operators invite`.',
    'A set-up link creates one user. If you do not know who used it, see the audit events `role.activated`.',
  ),
  setup_link_expired: error(
    400,
    'This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`.',
    'Este enlace de configuración ha caducado: un enlace sirve durante 30 minutos. Crea uno nuevo con `postern operators invite`.',
    'A link works for 30 minutes. `postern operators invite --role operator` prints a new one.',
  ),
  code_rejected: error(
    400,
    'That code is wrong or has expired.',
    'Ese código es incorrecto o ha caducado.',
    'The code is wrong, has expired, has no guesses left, was used before or was never requested. The response does not say which. Retry, or request a new code.',
  ),
  external_identity_rejected: error(
    400,
    "The provider's account could not be verified.",
    'No se pudo verificar la cuenta del proveedor.',
    'The id_token or its nonce is not valid, or the challenge has expired or was used before. Start again.',
  ),
  guest_rejected: error(
    400,
    'This is not the authentication token of another guest.',
    'No es el token de autenticación de otro invitado.',
    'Send the authentication token of a guest (`authenticator: "guest"`) whose login has not ended, from the same client. A merged guest no longer exists.',
  ),
  account_unusable: error(
    400,
    'The account is deactivated.',
    'La cuenta está desactivada.',
    'Only an operator can reactivate the account.',
  ),
  invalid_authorization_header: error(
    401,
    'The Authorization header is not valid.',
    'La cabecera Authorization no es válida.',
    'Send exactly one Authorization header, with the scheme that the documentation of the operation names.',
  ),
  missing_credentials: error(
    401,
    'Credentials are required.',
    'Se requieren credenciales.',
    'Send the Authorization header that the documentation of the operation names.',
  ),
  invalid_authentication_token: error(
    401,
    'The authentication token was not found, is invalid or has expired.',
    'El token de autenticación no existe, no es válido o ha caducado.',
    'Log in again with POST /v1/tokens.',
  ),
  invalid_dpop_proof: error(
    401,
    'This authentication token is bound to a key, and the request has no valid proof of that key.',
    'Este token de autenticación está vinculado a una clave, y la solicitud no tiene una prueba válida de esa clave.',
    'Send a DPoP proof, signed by the key of `device.jwk` for this request. `detail` says what is wrong. Without the key, log in again.',
  ),
  use_dpop_nonce: error(
    401,
    'The proof needs a current nonce of this service.',
    'La prueba necesita un nonce actual de este servicio.',
    'Retry once, with a new proof whose `nonce` is the value of the header `DPoP-Nonce`.',
  ),
  invalid_session_token: error(
    401,
    'The session token was not found, is invalid or has expired.',
    'El token de sesión no existe, no es válido o ha caducado.',
    'Get a new session token with POST /v1/sessions and the authentication token.',
  ),
  invalid_api_key: error(
    401,
    'The API key was not found, is invalid or has expired.',
    'La clave de API no existe, no es válida o ha caducado.',
    'Send `Authorization: Bearer psk_…` with a key that is neither revoked nor expired. `postern keys create` creates one.',
  ),
  no_active_token: error(
    401,
    'No active authentication token was found.',
    'No se encontró ningún token de autenticación activo.',
    'The token is unknown, belongs to another user, was deleted, or was never approved.',
  ),
  account_locked: error(
    403,
    'The account is locked.',
    'La cuenta está bloqueada.',
    'The lock does not expire. An operator has to unlock the account.',
  ),
  address_blocked: error(
    403,
    'Requests from this address are blocked.',
    'Las solicitudes desde esta dirección están bloqueadas.',
    'An operator has blocked the address of the client or its range. `postern blocks list` shows the blocks.',
  ),
  invalid_mail_event: error(
    401,
    'The report does not come from the provider, or is older than five minutes.',
    'El informe no procede del proveedor, o tiene más de cinco minutos.',
    'The report of a mail provider is not authentic, or is older than five minutes. Check the secret of its events and the clock of this machine.',
  ),
  invalid_receipt_signature: error(
    403,
    'The signature of the receipt is not valid.',
    'La firma del acuse no es válida.',
    'For providers of SMS. Check that the provider calls `PUBLIC_URL`, and that the auth token of Twilio or the signature secret of Vonage is current.',
  ),
  insufficient_scope: error(
    403,
    'The scope {scope} is missing.',
    'Falta el permiso {scope}.',
    'Use an API key with this scope, or the session of a user whose role has it. Changing a user with a role needs `admin`.',
  ),
  second_factor_required: error(
    403,
    'This needs a login with a second factor.',
    'Esto requiere un inicio de sesión con un segundo factor.',
    'Use an API key, or a session whose login used an authenticator app or a passkey. Enrol a factor and log in again.',
  ),
  role_not_active: error(
    403,
    "The role is not active yet: enrol a second factor through an operator's link first.",
    'El rol aún no está activo: registre primero un segundo factor con el enlace de un operador.',
    'An operator creates a link with `POST /admin/v1/users/{id}/enrollment-links` or `postern operators invite`. Log in and enrol a factor with its secret, or send it to `POST /v1/account/role`. Then log in again.',
  ),
  role_required: error(
    403,
    'This account has no role, so it cannot use the console.',
    'Esta cuenta no tiene ningún rol, por lo que no puede usar la consola.',
    'Ask an operator for the role support or operator, or use `postern operators invite --user`.',
  ),
  cross_site_request: error(
    403,
    'Another site sent this request.',
    'Otro sitio envió esta solicitud.',
    'Only Postern’s own pages may call this route. If a proxy changes the header `Host`, set `PUBLIC_URL`.',
  ),
  fresh_proof_required: error(
    403,
    'This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry.',
    'Esto requiere un inicio de sesión o una reautenticación recientes: envía una prueba a PUT /v1/account/session-proof y reinténtalo.',
    'The login and its last proof are older than `ADMIN_PROOF_MAX_AGE`. `PUT /v1/account/session-proof` re-authenticates without a new login.',
  ),
  session_required: error(
    403,
    'This needs the session of an operator: an API key belongs to no person.',
    'Esto requiere la sesión de un operador: una clave de API no pertenece a ninguna persona.',
    'Log in as an operator with a second factor, and send the session token. The audit log and the user see who asked.',
  ),
  read_only_session: error(
    403,
    'An operator uses this login to look, so it changes nothing.',
    'Un operador usa este acceso solo para mirar, así que no cambia nada.',
    'A support login without `write` allows GET, session checks, new sessions and access tokens, and its own end.',
  ),
  not_for_support_logins: error(
    403,
    'This login was made by an operator, and may not do this.',
    'Un operador que ha entrado como el usuario no puede hacer esto.',
    'A support login never changes credentials, addresses, factors and devices, and never deletes or exports the account. It gets access tokens only for audiences with `support`.',
  ),
  registration_off: error(
    403,
    'Registration is turned off.',
    'El registro está desactivado.',
    'Only operators can create accounts. `REGISTRATION=on` turns registration on.',
  ),
  not_found: error(404, 'The resource does not exist.', 'El recurso no existe.', 'Check the path and the id.'),
  method_not_allowed: error(
    405,
    'This path does not support the method.',
    'Esta ruta no admite el método.',
    'Use a method that the `Allow` header lists.',
  ),
  request_timeout: error(
    408,
    'The request took too long to arrive.',
    'La solicitud tardó demasiado en llegar.',
    'Send the whole request within 12 seconds.',
  ),
  identity_taken: error(
    409,
    'Another user has this identity.',
    'Otro usuario ya tiene esta identidad.',
    'Two users cannot share a username, mail address, phone number or external_id, in any spelling. Use another one.',
  ),
  external_identity_taken: error(
    409,
    "The provider's account is linked to another user.",
    'La cuenta del proveedor está vinculada a otro usuario.',
    'Unlink it from the other user first.',
  ),
  last_way_in: error(
    409,
    'This is the only way to log in to the account.',
    'Es la única forma de iniciar sesión en la cuenta.',
    'Set a password or link another account first.',
  ),
  has_role: error(
    409,
    'This user has a role, so nobody can log in as the user.',
    'Este usuario tiene un rol, así que nadie puede entrar como él.',
    'Nobody can log in as a user with a role: an operator could get the rights of another one. Remove the role first.',
  ),
  support_login_ended: error(
    409,
    'This support login has ended.',
    'Este acceso de soporte ha terminado.',
    'It was refused, has ended or has expired. The operator can ask again.',
  ),
  upgrade_in_progress: error(
    409,
    'An older release of Postern still runs on this database.',
    'Una versión anterior de Postern sigue en marcha con esta base de datos.',
    'The older release would treat a support login as a login of the user. Finish the upgrade. A crashed process counts for 90 seconds.',
  ),
  audience_exists: error(
    409,
    'There is an audience with this uri already.',
    'Ya hay una audiencia con este uri.',
    'Change the existing audience, which `GET /admin/v1/audiences` lists.',
  ),
  test_identity_exists: error(
    409,
    'This address is a test identity already.',
    'Esta dirección ya es una identidad de prueba.',
    'Delete the test identity of this address first.',
  ),
  request_in_progress: error(
    409,
    'A request with this Idempotency-Key is still in progress.',
    'Una solicitud con esta Idempotency-Key sigue en curso.',
    'Wait for `Retry-After` seconds and retry the same request.',
  ),
  category_built_in: error(
    409,
    'This is the category of a notification type.',
    'Esta es la categoría de un tipo de notificación.',
    'Such a category cannot be deleted. To give it the defaults again, `PUT` it with an empty object.',
  ),
  precondition_failed: error(
    412,
    'It has changed since the response with this ETag.',
    'Ha cambiado desde la respuesta con este ETag.',
    'Read it again, apply your change, and send the new ETag in `If-Match`.',
  ),
  precondition_required: error(
    428,
    'Send If-Match with the ETag of what you change.',
    'Envía If-Match con el ETag de lo que cambias.',
    'Read it, and send its `ETag` in `If-Match`, so that you do not overwrite changes of others.',
  ),
  payload_too_large: error(
    413,
    'The body is too large.',
    'El cuerpo es demasiado grande.',
    'Limits: 64 KiB; publishing 4 MiB; images 5 MiB, in base64 7 MiB.',
  ),
  unsupported_media_type: error(
    415,
    'The content type is not supported.',
    'El tipo de contenido no es compatible.',
    'Send `application/json` in UTF-8, without a content encoding. Image uploads also accept `multipart/form-data`; imports, publishing and other lists `application/x-ndjson`.',
  ),
  expectation_failed: error(
    417,
    'The expectation cannot be met.',
    'No se puede cumplir la expectativa.',
    'Send no `Expect` header, or `Expect: 100-continue`.',
  ),
  backups_off: error(
    409,
    'Postern makes no backups by itself.',
    'Postern no hace copias de seguridad por sí mismo.',
    'BACKUP_TO is not set. Set it and restart Postern, or use `postern backup create`.',
  ),
  backup_running: error(
    409,
    'Another backup or verification is running.',
    'Hay otra copia o comprobación en curso.',
    'Wait for its end, which `GET /admin/v1/backups` shows.',
  ),
  message_not_failed: error(
    409,
    'Only a failed message can be sent again.',
    'Solo se puede volver a enviar un mensaje fallido.',
    'Read the message again: its `state` has changed, or it was never sent, because it had expired or had no recipient.',
  ),
  message_outdated: error(
    409,
    'This message is no longer needed.',
    'Este mensaje ya no es necesario.',
    'Its code has expired, or its login has ended. The user must request a new code.',
  ),
  unknown_topic: error(
    404,
    'There is no topic with this key.',
    'No hay ningún tema con esta clave.',
    'Check the key. Users get the same answer for a topic that they may not join.',
  ),
  too_many_topics: error(
    409,
    'There are {max} topics already.',
    'Ya hay {max} temas.',
    'Delete topics that you no longer need.',
  ),
  topic_in_use: error(
    409,
    'A publication to this topic is not finished.',
    'Una publicación a este tema no ha terminado.',
    'Wait for its end, or cancel it.',
  ),
  publication_started: error(
    409,
    'This publication has started, so it can no longer be changed.',
    'Esta publicación ya ha empezado, así que no se puede cambiar.',
    '`publication` has its status. Cancel or recall it, and create another one.',
  ),
  publication_state: error(
    409,
    'This publication is in a state that does not allow this.',
    'Esta publicación está en un estado que no lo permite.',
    '`publication` has its status. You can pause a running publication, resume a paused one, and recall one that has ended.',
  ),
  too_many_webhooks: error(
    409,
    'There are {max} webhooks already.',
    'Ya hay {max} webhooks.',
    'Delete one that you no longer need, or let one receiver forward events to others.',
  ),
  message_tried_too_often: error(
    409,
    'This message was tried {max} times. It is not sent again.',
    'Este mensaje se intentó {max} veces. No se vuelve a enviar.',
    'See `last_error` of the message. Fix the cause, and let the user request a new code.',
  ),
  unknown_audience: error(
    422,
    'There is no audience with this uri.',
    'No hay ninguna audiencia con este uri.',
    'An operator adds audiences with `POST /admin/v1/audiences`. They need PUBLIC_URL.',
  ),
  ttl_out_of_range: error(
    422,
    'An access token for this audience can last {min} to {max} seconds.',
    'Un token de acceso para esta audiencia puede durar de {min} a {max} segundos.',
    'Ask for a shorter `ttl`, or send none to get that of the audience.',
  ),
  claims_too_large: error(
    422,
    'The roles and claims of this user do not fit into an access token: it has at most {max} bytes.',
    'Los roles y claims de este usuario no caben en un token de acceso: tiene como máximo {max} bytes.',
    'Name fewer `claims` for the audience, leave out its `roles`, or shorten those of the user.',
  ),
  human_check_required: error(
    422,
    'Solve the challenge of `human_check`, and send the request again with the solution.',
    'Resuelve el reto de `human_check` y envía la solicitud de nuevo con la solución.',
    'HUMAN_CHECK=altcha asks unknown devices for a proof of work, which the client packages solve. A solution is valid once, for ten minutes.',
  ),
  provider_incomplete: error(
    422,
    'This provider takes no logins by redirect: client_id of {name} in OIDC_PROVIDERS, or PUBLIC_URL, is missing.',
    'Este proveedor no acepta inicios de sesión por redirección: falta client_id de {name} en OIDC_PROVIDERS, o PUBLIC_URL.',
    'Set both and restart Postern. Then the provider can be tested.',
  ),
  redirect_not_allowed: error(
    422,
    'Logins may not return to this address.',
    'Los inicios de sesión no pueden volver a esta dirección.',
    'REDIRECT_URIS must list `redirect_to` as exactly the same text, including a slash at the end.',
  ),
  validation_failed: error(
    422,
    'Some fields are not valid.',
    'Algunos campos no son válidos.',
    '`errors` lists the field errors, each with a code of the second table: first all wrong formats, and if there are none, all broken rules.',
  ),
  too_many_marks: error(
    422,
    'This would change the states of more than {max} notifications one by one. Nothing was changed.',
    'Esto cambiaría uno por uno los estados de más de {max} notificaciones. No se cambió nada.',
    'Send several requests with a narrower filter or a lower `through`. With an empty filter there is no limit.',
  ),
  action_taken: error(
    409,
    'You have already chosen another action of this notification.',
    'Ya elegiste otra acción de esta notificación.',
    'Show the chosen action, `extra.state.action`.',
  ),
  notification_expired: error(
    409,
    'This notification has expired.',
    'Esta notificación ha caducado.',
    'Offer no actions after `expires_at`.',
  ),
  idempotency_key_reused: error(
    422,
    'This Idempotency-Key was used before with another request.',
    'Esta Idempotency-Key se usó antes con otra solicitud.',
    'Use a new key for a new request.',
  ),
  invalid_image: error(
    422,
    'The file is not a supported image.',
    'El archivo no es una imagen compatible.',
    'Send a complete JPEG, PNG, WebP, GIF or AVIF of at most 25 megapixels. SVG is not accepted.',
  ),
  too_many_images: error(
    422,
    'A user may keep at most {max} images.',
    'Un usuario puede conservar como máximo {max} imágenes.',
    'Images that no notification uses are deleted after a day.',
  ),
  account_temporarily_locked: error(
    423,
    'The account is temporarily locked.',
    'La cuenta está bloqueada temporalmente.',
    'Wait for `Retry-After` seconds.',
  ),
  too_many_requests: error(
    429,
    'Too many requests.',
    'Demasiadas solicitudes.',
    'Wait for `Retry-After` seconds. The headers `RateLimit-Policy` and `RateLimit` show the limits on requests.',
  ),
  too_many_streams: error(
    429,
    'Too many streams are open.',
    'Hay demasiados flujos abiertos.',
    'Close a stream of this user that you no longer need, or wait for `Retry-After` seconds.',
  ),
  headers_too_large: error(
    431,
    'The header fields are too large.',
    'Las cabeceras son demasiado grandes.',
    'Send at most 16 KiB of headers.',
  ),
  internal_error: error(
    500,
    'Something went wrong on the server.',
    'Algo salió mal en el servidor.',
    'The log shows the cause, with the id of the request. Please report it.',
  ),
  overloaded: error(
    503,
    'The service is busy.',
    'El servicio está ocupado.',
    'Wait for `Retry-After` seconds and retry.',
  ),
  image_not_stored: error(
    503,
    'The image was not processed in time and was not stored.',
    'La imagen no se procesó a tiempo y no se guardó.',
    'Wait for `Retry-After` seconds and retry, or send a smaller image.',
  ),
  authenticator_unavailable: error(
    503,
    'This way to log in is not available right now.',
    'Esta forma de iniciar sesión no está disponible en este momento.',
    'An authenticator or its service failed; the log shows why. Retry after `Retry-After` seconds, or log in another way.',
  ),
  secret_unreadable: error(
    503,
    'A stored secret cannot be read right now.',
    'Un secreto almacenado no se puede leer en este momento.',
    '`SECRET_KEY` lacks the key that encrypted a value. The log shows its id. Add the key again, after the current one. Until then, use another factor.',
  ),
  storage_unavailable: error(
    503,
    'The storage is not available right now.',
    'El almacenamiento no está disponible en este momento.',
    'The request may have taken effect. Wait for `Retry-After` seconds and retry.',
  ),
  shutting_down: error(
    503,
    'This instance is shutting down.',
    'Esta instancia se está apagando.',
    'Retry: another instance responds, or this one after its restart.',
  ),
} as const satisfies Record<string, ErrorDefinition>;
export type ErrorCode = keyof typeof errors;
