/**
 * Every error the service can answer with: the one source for the HTTP status, the texts in each language,
 * `docs/errors.md` and the OpenAPI document. Codes are stable; texts may be improved.
 */

/** Languages the service speaks; the first is the fallback. */
export const languages = ['en', 'es'] as const;
export type Language = (typeof languages)[number];
export type Text = Readonly<Record<Language, string>>;

interface ErrorDefinition {
  /** HTTP status of a problem with this code. */
  readonly status: number;
  /** For people: what went wrong, in one sentence. `{name}` is replaced by the parameter of that name. */
  readonly message: Text;
  /** For the documentation: when it happens and what the caller can do. */
  readonly remedy: string;
}

const error = (status: number, en: string, es: string, remedy: string): ErrorDefinition => ({
  status,
  message: { en, es },
  remedy,
});

/** Problems: one of these is the `type` of every error response, and its code stands in `errors[].code`. */
export const errors = {
  malformed_request: error(
    400,
    'The request could not be understood.',
    'No se pudo entender la solicitud.',
    'The framing, the URL or a header is not valid HTTP. Correct the client.',
  ),
  malformed_json: error(
    400,
    'The body is not valid JSON.',
    'El cuerpo no es JSON válido.',
    'Send one JSON text in UTF-8, at most 32 levels deep.',
  ),
  authorization_rejected: error(
    400,
    'The authorization was rejected.',
    'La autorización fue rechazada.',
    'The code or PIN was wrong, the authentication lapsed, its guesses are used up, or there is no such authentication: the answer is the same on purpose. Try again with the right secret, or start a new authentication.',
  ),
  proof_rejected: error(
    400,
    'The proof was rejected.',
    'La prueba fue rechazada.',
    'The password, code or assertion was wrong, lapsed, used before, or started by another device: the answer is the same on purpose. Prove anew who you are.',
  ),
  enrollment_link_rejected: error(
    400,
    'The link was rejected.',
    'El enlace fue rechazado.',
    'The secret is not that of a link for this account, or the link was used, was replaced by a later one, or is older than 30 minutes. Ask an operator for a new one.',
  ),
  code_rejected: error(
    400,
    'The code was rejected.',
    'El código fue rechazado.',
    'The code was wrong, lapsed, used up or used before, or there is nothing that it could be for: the answer is the same on purpose. Try again with the right code, or ask for a new one.',
  ),
  external_identity_rejected: error(
    400,
    'The account of the provider was not proven.',
    'No se pudo comprobar la cuenta del proveedor.',
    'The id_token is not right, was not made with the nonce of this challenge, or the challenge has lapsed or was used. Begin again.',
  ),
  account_unusable: error(
    400,
    'The account cannot be used.',
    'La cuenta no se puede usar.',
    'An operator deactivated the account. Only an operator can change that.',
  ),
  invalid_authorization_header: error(
    401,
    'The Authorization header is not valid.',
    'La cabecera Authorization no es válida.',
    'Send exactly one Authorization header of the scheme that the operation names.',
  ),
  missing_credentials: error(
    401,
    'Credentials are required.',
    'Se requieren credenciales.',
    'Send the Authorization header that the operation names.',
  ),
  invalid_authentication_token: error(
    401,
    'The authentication token was not found, is invalid or has expired.',
    'El token de autenticación no existe, no es válido o ha caducado.',
    'Log in again with POST /v1/tokens.',
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
    'Send `Authorization: Bearer psk_…` with a key that is neither revoked nor expired. `postern keys create` makes one.',
  ),
  no_active_token: error(
    401,
    'No active authorization token was found.',
    'No se encontró ningún token de autorización activo.',
    'The token is unknown, belongs to somebody else, was deleted before, or was never approved.',
  ),
  account_locked: error(
    403,
    'The account is locked.',
    'La cuenta está bloqueada.',
    'The lock has no end of its own. An operator unlocks it.',
  ),
  insufficient_scope: error(
    403,
    'The scope {scope} is missing.',
    'Falta el permiso {scope}.',
    'Use an API key with the scope that the operation names, or the session of a user whose role has it. Users with a role are touched with the scope `admin` only.',
  ),
  second_factor_required: error(
    403,
    'This needs a login with a second factor.',
    'Esto requiere un inicio de sesión con un segundo factor.',
    'Administering with a session takes one of a login that used a second factor (TOTP, a passkey). Enrol one and log in again.',
  ),
  role_not_active: error(
    403,
    'The role does not take effect yet: its holder has to enrol a second factor through a link of an operator.',
    'El rol aún no tiene efecto: su titular debe activar un segundo factor con un enlace de un operador.',
    'An operator makes the link with `POST /admin/v1/users/{id}/enrollment-links` or `postern operators invite`. Its holder logs in and enrols a factor with the secret of the link; who has a factor already sends the secret to `POST /v1/account/role`. Then log in with the factor.',
  ),
  fresh_proof_required: error(
    403,
    'This needs a recent login or proof: send a proof to PUT /v1/account/session-proof and repeat the request.',
    'Esto requiere un acceso o una prueba reciente: envíe una prueba a PUT /v1/account/session-proof y repita la solicitud.',
    "The session's login and its last proof are older than `ADMIN_PROOF_MAX_AGE`. `PUT /v1/account/session-proof` takes a proof without logging out.",
  ),
  registration_off: error(
    403,
    'Nobody can register here.',
    'Aquí no es posible registrarse.',
    'Accounts are made by the operator. `REGISTRATION=on` lets people register.',
  ),
  not_found: error(404, 'There is no such resource.', 'El recurso no existe.', 'Check the path and the id.'),
  method_not_allowed: error(
    405,
    'The method is not allowed here.',
    'El método no está permitido aquí.',
    'Use a method of the `Allow` header.',
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
    'Usernames, mail addresses and phone numbers are unique in their canonical form.',
  ),
  external_identity_taken: error(
    409,
    'This account of the provider is linked to another user.',
    'Esta cuenta del proveedor está vinculada a otro usuario.',
    'An account elsewhere lets one user in. Unlink it there first.',
  ),
  last_way_in: error(
    409,
    'This is the only way into the account.',
    'Es la única forma de entrar en la cuenta.',
    'Set a password or link another account first.',
  ),
  request_in_progress: error(
    409,
    'A request with this Idempotency-Key is still in progress.',
    'Una solicitud con esta Idempotency-Key sigue en curso.',
    'Wait for `Retry-After` seconds and repeat the same request.',
  ),
  payload_too_large: error(
    413,
    'The body is too large.',
    'El cuerpo es demasiado grande.',
    'Send at most 64 KiB (publishing: 4 MiB; an image: 5 MiB, 7 MiB with its base64).',
  ),
  unsupported_media_type: error(
    415,
    'The content type is not supported.',
    'El tipo de contenido no es compatible.',
    'Send `Content-Type: application/json`, in UTF-8 and without a content encoding. Images may be `multipart/form-data` too, and imports and publishing of any number take `application/x-ndjson`.',
  ),
  expectation_failed: error(
    417,
    'The expectation cannot be met.',
    'No se puede cumplir la expectativa.',
    'Send no `Expect` header, or `100-continue`.',
  ),
  validation_failed: error(
    422,
    'Some fields are not valid.',
    'Algunos campos no son válidos.',
    '`errors` names the faulty fields, each with a code of its own (second table): first all that are wrong in form, and when the form is right, all that break a rule.',
  ),
  idempotency_key_reused: error(
    422,
    'This Idempotency-Key was used before with another request.',
    'Esta Idempotency-Key se usó antes con otra solicitud.',
    'Use a new key for a new request.',
  ),
  invalid_image: error(
    422,
    'The file is not an image that can be used.',
    'El archivo no es una imagen utilizable.',
    'Send a whole JPEG, PNG, WebP, GIF or AVIF of at most 25 megapixels. SVG is not accepted.',
  ),
  too_many_images: error(
    422,
    'A user may keep at most {max} images.',
    'Un usuario puede conservar como máximo {max} imágenes.',
    'Images that no notification shows are removed after a day.',
  ),
  account_temporarily_locked: error(
    423,
    'The account is temporarily locked.',
    'La cuenta está bloqueada temporalmente.',
    'Wait for `Retry-After` seconds.',
  ),
  too_many_requests: error(429, 'Too many requests.', 'Demasiadas solicitudes.', 'Wait for `Retry-After` seconds.'),
  too_many_streams: error(
    429,
    'Too many streams are open.',
    'Hay demasiados flujos abiertos.',
    'Close a stream of this user that is no longer read, or wait for `Retry-After` seconds.',
  ),
  headers_too_large: error(
    431,
    'The header fields are too large.',
    'Las cabeceras son demasiado grandes.',
    'Send at most 16 KiB of headers.',
  ),
  internal_error: error(
    500,
    'Something went wrong on our side.',
    'Algo salió mal de nuestro lado.',
    'The log has the cause under the same request id. Please report it.',
  ),
  overloaded: error(
    503,
    'The service is busy.',
    'El servicio está ocupado.',
    'Wait for `Retry-After` seconds and try again.',
  ),
  image_not_stored: error(
    503,
    'The image was not processed in time and was not stored.',
    'La imagen no se procesó a tiempo y no se guardó.',
    'Wait for `Retry-After` seconds and send it again, or send a smaller one.',
  ),
  authenticator_unavailable: error(
    503,
    'This way of logging in is not available right now.',
    'Esta forma de iniciar sesión no está disponible en este momento.',
    'A plug-in failed, or the service that it asks did not answer. Wait for `Retry-After` seconds and try again, or log in another way. The log has the cause.',
  ),
  secret_unreadable: error(
    503,
    'A stored secret cannot be read right now.',
    'Un secreto almacenado no se puede leer en este momento.',
    'The key that encrypted it is missing from `SECRET_KEY`. The log has its id, and `postern doctor` counts the affected values. Put the key back behind the current one. Until then, prove another way, such as with a passkey. A recovery code that was made under the missing key counts as a wrong guess.',
  ),
  storage_unavailable: error(
    503,
    'The storage is not available right now.',
    'El almacenamiento no está disponible en este momento.',
    'Nothing is known to have changed. Wait for `Retry-After` seconds and try again.',
  ),
  shutting_down: error(
    503,
    'This instance is shutting down.',
    'Esta instancia se está apagando.',
    'Connect again: another instance answers.',
  ),
} as const satisfies Record<string, ErrorDefinition>;
export type ErrorCode = keyof typeof errors;

const text = (en: string, es: string): Text => ({ en, es });

/**
 * What can be wrong with one field: the codes inside `errors[]` of a `validation_failed` problem. A part in square brackets
 * is said only where its parameters are given.
 */
export const fieldErrors = {
  required: text('This field is required.', 'Este campo es obligatorio.'),
  invalid_type: text('This must be: {expected}.', 'Debe ser: {expected}.'),
  invalid_choice: text('This must be one of: {allowed}.', 'Debe ser uno de: {allowed}.'),
  none_configured: text(
    'Nothing is configured here that this could name.',
    'Aquí no hay nada configurado que esto pueda nombrar.',
  ),
  invalid_cursor: text('This is no cursor of a list with this sort.', 'No es un cursor de una lista con este orden.'),
  invalid_format: text('This does not have the expected form.', 'No tiene la forma esperada.'),
  reserved_id: text('This id is reserved.', 'Este id está reservado.'),
  no_role: text('The user has no role: give one first.', 'El usuario no tiene ningún rol: asígnele uno primero.'),
  invalid_characters: text('This holds characters that are not allowed.', 'Contiene caracteres no permitidos.'),
  invalid_time: text(
    'This must be a time that exists, such as 2030-01-31T12:00:00Z.',
    'Debe ser una hora que exista, como 2030-01-31T12:00:00Z.',
  ),
  time_in_future: text(
    'This lies in the future. It must be a time in the past.',
    'Está en el futuro. Debe ser una hora pasada.',
  ),
  time_in_past: text(
    'This lies in the past. It must be a time in the future, such as 2030-01-31T12:00:00Z.',
    'Está en el pasado. Debe ser una hora futura, como 2030-01-31T12:00:00Z.',
  ),
  invalid_url: text('This is not an allowed URL ({reason}).', 'No es una URL permitida ({reason}).'),
  invalid_identity: text('This is not a valid {type}.', 'No es un valor válido de tipo {type}.'),
  invalid_pin: text('A PIN has 4 to 12 digits.', 'Un PIN tiene de 4 a 12 dígitos.'),
  invalid_number: text(
    'This must be a number of at most 15 significant digits.',
    'Debe ser un número de 15 cifras significativas como máximo.',
  ),
  invalid_hash: text('This is not a password hash that can be used.', 'No es un hash de contraseña utilizable.'),
  too_many_schemes: text(
    'Hashes of {max} other algorithms or parameters were imported already, and no more can be.',
    'Ya se importaron hashes de otros {max} algoritmos o parámetros, y no se admiten más.',
  ),
  schemes_too_expensive: text(
    'This way of hashing costs {cost}, and with those in use {sum}; at most {max} is allowed (IMPORTED_HASH_COST_LIMIT).',
    'Esta forma de hash cuesta {cost}, y con las que están en uso {sum}; se permite {max} como máximo (IMPORTED_HASH_COST_LIMIT).',
  ),
  password_breached: text(
    'This password was found in a leak of passwords.',
    'Esta contraseña aparece en una filtración de contraseñas.',
  ),
  password_too_common: text('This password is too common.', 'Esta contraseña es demasiado común.'),
  too_long: text('This may have at most {max} characters.', 'Puede tener como máximo {max} caracteres.'),
  too_short: text('This must have at least {min} characters.', 'Debe tener al menos {min} caracteres.'),
  too_many_bytes: text('This may take at most {max} bytes.', 'Puede ocupar como máximo {max} bytes.'),
  too_small: text('This must be at least {min}.', 'Debe ser al menos {min}.'),
  too_large: text('This must be at most {max}.', 'Debe ser como máximo {max}.'),
  too_many_items: text('This may have at most {max} items.', 'Puede tener como máximo {max} elementos.'),
  too_few_items: text('This must have at least {min} items.', 'Debe tener al menos {min} elementos.'),
  duplicate_items: text('This holds the same item twice.', 'Contiene el mismo elemento dos veces.'),
  identity_required: text(
    'At least one of username, email and phone is required.',
    'Se requiere al menos uno de username, email y phone.',
  ),
  identity_taken: text('Another user has this.', 'Otro usuario ya lo tiene.'),
  unknown_authenticator: text(
    'There is no such authenticator here. This must be one of: {allowed}.',
    'Ese autenticador no existe aquí. Debe ser uno de: {allowed}.',
  ),
  deleted_user: text('A user with this id was deleted.', 'Se eliminó un usuario con este id.'),
  unknown_user: text('There is no such user.', 'Ese usuario no existe.'),
  unknown_notification: text('There is no such notification.', 'Esa notificación no existe.'),
  unknown_image: text('There is no such image.', 'Esa imagen no existe.'),
  conflicting_fields: text('Only one of {fields} may be given.', 'Solo se puede indicar uno de {fields}.'),
  one_required: text('One of {fields} is required.', 'Se requiere uno de {fields}.'),
  unreachable_url: text(
    'No file could be read from this URL: it must answer with 200 in time, and not redirect.',
    'No se pudo leer ningún archivo de esta URL: debe responder con 200 a tiempo y sin redirigir.',
  ),
  too_many_deliveries: text(
    'One request may make at most {max} deliveries.',
    'Una solicitud puede hacer como máximo {max} entregas.',
  ),
  too_much_published: text(
    'What one request publishes may have at most {max} MiB, counted for each user that gets it.',
    'Lo que publica una solicitud puede tener como máximo {max} MiB, contado por cada usuario que lo recibe.',
  ),
  malformed_request: text(
    'This header may be sent once, with 1 to 255 printable ASCII characters.',
    'Esta cabecera puede enviarse una vez, con 1 a 255 caracteres ASCII imprimibles.',
  ),
  not_supported: text('This is not supported here.', 'Esto no se admite aquí.'),
  repeated_parameter: text('This parameter may be given once.', 'Este parámetro solo puede darse una vez.'),
  invalid_page: text('A page is a whole number from 1 to {max}.', 'Una página es un número entero de 1 a {max}.'),
  invalid_limit: text(
    'A limit is a whole number from {min} to {max}.',
    'Un límite es un número entero de {min} a {max}.',
  ),
  invalid_sort: text(
    'Cannot sort by "{value}"; did you mean "{suggestion}"? Fields: {allowed}.',
    'No se puede ordenar por "{value}"; ¿quiso decir "{suggestion}"? Campos: {allowed}.',
  ),
  invalid_since: text(
    'This must be a time that exists, in the form {format}.',
    'Debe ser una hora que exista, con la forma {format}.',
  ),
  unknown_member: text(
    'The member "{value}" is unknown[; did you mean "{suggestion}"?][; known are: {known}.]',
    'El miembro "{value}" es desconocido[; ¿quiso decir "{suggestion}"?][; se conocen: {known}.]',
  ),
  unknown_parameter: text(
    'The parameter "{value}" is unknown[; did you mean "{suggestion}"?][; known are: {known}.]',
    'El parámetro "{value}" es desconocido[; ¿quiso decir "{suggestion}"?][; se conocen: {known}.]',
  ),
  unknown_filter_field: text(
    'Position {position}: there is no field "{value}"; did you mean "{suggestion}"? Fields: {allowed}.',
    'Posición {position}: no existe el campo "{value}"; ¿quiso decir "{suggestion}"? Campos: {allowed}.',
  ),
  unknown_filter_op: text(
    'Position {position}: "{value}" is not an operator here; did you mean "{suggestion}"? Operators: {allowed}.',
    'Posición {position}: "{value}" no es un operador aquí; ¿quiso decir "{suggestion}"? Operadores: {allowed}.',
  ),
  invalid_filter_value: text(
    'Position {position}: "{value}" is not valid (expected: {expected}).',
    'Posición {position}: "{value}" no es válido (se espera: {expected}).',
  ),
  invalid_filter_syntax: text(
    'Position {position}: expected {expected}.',
    'Posición {position}: se esperaba {expected}.',
  ),
  too_many_filters: text('At most {max} conditions.', 'Como máximo {max} condiciones.'),
} as const satisfies Record<string, Text>;
export type FieldErrorCode = keyof typeof fieldErrors;

/** What a message adds where the code alone does not say what to do. */
export const fieldHints = {
  pin_policy: text(
    'PIN_POLICY=required asks for a PIN here. For a user who has none, any 4 to 12 digits are accepted.',
    'PIN_POLICY=required exige aquí un PIN. Para un usuario que no tiene ninguno se aceptan 4 a 12 dígitos cualesquiera.',
  ),
} as const satisfies Record<string, Text>;
export type FieldHint = keyof typeof fieldHints;

/** What an authentication object carries in `error_code`; the empty string when there is no error. */
export const authenticationErrors = {
  invalid_credentials: text(
    'The identity, the secret or the PIN is not right.',
    'La identidad, el secreto o el PIN no es correcto.',
  ),
  authorization_rejected: text('The authorization was rejected.', 'La autorización fue rechazada.'),
} as const satisfies Record<string, Text>;
export type AuthenticationErrorCode = keyof typeof authenticationErrors;
