import type { Text } from '../errors/text.js';

const text = (en: string, es: string): Text => ({ en, es });

/** Why a login is refused, and other facts about it. A part in square brackets appears only if its value is known. */
export const loginReasons = {
  unknown_identity: text(
    'Nobody has this identity. Postern answers as for a wrong secret.',
    'Nadie tiene esta identidad. Postern responde como con un secreto incorrecto.',
  ),
  deactivated: text(
    'The user is deactivated. Postern answers as for a wrong secret.',
    'El usuario está desactivado. Postern responde como con un secreto incorrecto.',
  ),
  locked_by_operator: text(
    'An operator locked the user[ until {until}][: {reason}].',
    'Un operador bloqueó al usuario[ hasta {until}][: {reason}].',
  ),
  device_locked_by_guesses: text(
    'Wrong secrets locked this device[ until {until}]. Wrong secrets since the last success: {failures}.[ After {failures_to_permanent} more the lock is permanent.]',
    'Los secretos incorrectos bloquearon este dispositivo[ hasta {until}]. Secretos incorrectos desde el último acierto: {failures}.[ Tras {failures_to_permanent} más, el bloqueo es permanente.]',
  ),
  new_devices_locked_by_guesses: text(
    'Wrong secrets locked all new devices[ until {until}]. Wrong secrets since the last success: {failures}.[ After {failures_to_permanent} more the lock is permanent.]',
    'Los secretos incorrectos bloquearon todos los dispositivos nuevos[ hasta {until}]. Secretos incorrectos desde el último acierto: {failures}.[ Tras {failures_to_permanent} más, el bloqueo es permanente.]',
  ),
  other_devices_locked_by_guesses: text(
    'Wrong secrets locked other devices of this user.',
    'Los secretos incorrectos bloquearon otros dispositivos de este usuario.',
  ),
  guesses_in_progress: text(
    'Other logins are being checked right now. This login waits for them, at most 5 seconds.',
    'Ahora mismo se comprueban otros inicios de sesión. Este espera a que acaben, como máximo 5 segundos.',
  ),
  account_limit: text(
    'The account has used up its logins per minute[ until {until}].',
    'La cuenta ha agotado sus inicios de sesión por minuto[ hasta {until}].',
  ),
  address_blocked: text(
    'An operator blocked this network address ({network})[ until {until}][: {reason}]. Postern refuses all its requests. The page "Blocked addresses" of the console ends the block.',
    'Un operador bloqueó esta dirección de red ({network})[ hasta {until}][: {reason}]. Postern rechaza todas sus peticiones. La página "Direcciones bloqueadas" de la consola quita el bloqueo.',
  ),
  address_limit: text(
    'This network address has used up its logins per minute[ until {until}].',
    'Esta dirección de red ha agotado sus inicios de sesión por minuto[ hasta {until}].',
  ),
  address_code_limit: text(
    'This network address has used up its codes per hour[ until {until}].',
    'Esta dirección de red ha agotado sus códigos por hora[ hasta {until}].',
  ),
  code_limit_minute: text(
    'This identity gets one code a minute. The next one is possible at {until}.',
    'Esta identidad recibe un código por minuto. El siguiente es posible a las {until}.',
  ),
  code_limit_hour: text(
    'This identity gets five codes an hour. The next one is possible at {until}.',
    'Esta identidad recibe cinco códigos por hora. El siguiente es posible a las {until}.',
  ),
  code_limit_day: text(
    'This identity gets ten codes a day. The next one is possible at {until}.',
    'Esta identidad recibe diez códigos al día. El siguiente es posible a las {until}.',
  ),
  test_identity: text(
    'The address is a test identity until {until}. Postern sends no code and accepts the fixed one.',
    'La dirección es una identidad de prueba hasta {until}. Postern no envía ningún código y acepta el fijo.',
  ),
  recipient_limit: text(
    'This address gets no more codes until {until}: other identities of the account have used its limit. Postern answers as usual and sends nothing.',
    'Esta dirección no recibe más códigos hasta {until}: otras identidades de la cuenta han agotado su límite. Postern responde como siempre y no envía nada.',
  ),
  sms_prefix_limit: text(
    'Numbers with this prefix get no more SMS until {until}: their limit is reached. Postern answers as usual and sends nothing.',
    'Los números con este prefijo no reciben más SMS hasta {until}: han llegado a su límite. Postern responde como siempre y no envía nada.',
  ),
  sms_total_limit: text(
    'This installation sends no more SMS until {until}: its limit is reached. Postern answers as usual and sends nothing.',
    'Esta instalación no envía más SMS hasta {until}: ha llegado a su límite. Postern responde como siempre y no envía nada.',
  ),
  sms_country_off: text(
    'Codes do not go to the country of this number. Postern answers as usual and sends nothing.',
    'Los códigos no se envían al país de este número. Postern responde como siempre y no envía nada.',
  ),
  sms_prefix_paused: text(
    'Codes to numbers with this prefix are paused[ until {until}]: few of the last ones were used. Postern answers as usual and sends nothing.',
    'Los códigos a números con este prefijo se han detenido[ hasta {until}]: se usaron pocos de los últimos. Postern responde como siempre y no envía nada.',
  ),
  last_message_failed: text(
    'The last code to this address was not sent[: {error}].',
    'El último código a esta dirección no se envió[: {error}].',
  ),
  not_configured: text(
    'This installation does not have this authenticator.',
    'Esta instalación no tiene este autenticador.',
  ),
  no_password: text('The user has no password.', 'El usuario no tiene contraseña.'),
  password_hash_unreadable: text(
    'The stored password hash has a format that this version cannot read.',
    'El hash de contraseña almacenado tiene un formato que esta versión no puede leer.',
  ),
  no_phone: text('The user has no phone number.', 'El usuario no tiene número de teléfono.'),
  phone_not_proven: text(
    'Nobody has proven the phone number with a code, so no codes go to it.',
    'Nadie ha comprobado el número de teléfono con un código, así que no se le envían códigos.',
  ),
  email_not_proven: text(
    'Nobody has proven the mail address with a code, so no codes go to it.',
    'Nadie ha comprobado la dirección de correo con un código, así que no se le envían códigos.',
  ),
  no_email: text('The user has no mail address.', 'El usuario no tiene dirección de correo.'),
  no_passkey: text('The user has no passkey.', 'El usuario no tiene ninguna passkey.'),
  no_external_identity: text(
    'No account of this provider is linked to the user. A login with one is refused (not_linked), also if it has the mail address of the user.',
    'El usuario no tiene vinculada ninguna cuenta de este proveedor. Un inicio de sesión con una se rechaza (not_linked), aunque tenga la dirección de correo del usuario.',
  ),
  external_identity_not_linked: text(
    'No account of this provider is linked to the user. If one has the mail address of the user, the login first asks for a proof of this account, and then links it. With another address it makes another user.',
    'El usuario no tiene vinculada ninguna cuenta de este proveedor. Si una tiene la dirección de correo del usuario, el inicio de sesión pide antes una prueba de esta cuenta y luego la vincula. Con otra dirección crea otro usuario.',
  ),
  provider_fails: text(
    'Logins with this provider fail: {problem}',
    'Los inicios de sesión con este proveedor fallan: {problem}',
  ),
  provider_refused: text(
    'The last refusal of its kind with this provider, perhaps of this person: {problem}',
    'El último rechazo de este tipo con este proveedor, quizá de esta persona: {problem}',
  ),
  pin_missing: text(
    'The user has no PIN. Any 4 to 12 digits are accepted as the PIN.',
    'El usuario no tiene PIN. Se aceptan 4 a 12 dígitos cualesquiera como PIN.',
  ),
  pin_unreadable: text(
    "The user's PIN was stored under a key that SECRET_KEY no longer has. No PIN is correct.",
    'El PIN del usuario se guardó con una clave que SECRET_KEY ya no tiene. Ningún PIN es correcto.',
  ),
  pin_replacement_pending: text(
    'A recovered PIN replaces the PIN at {until}. This ends every login.',
    'Un PIN recuperado sustituye al PIN a las {until}. Esto cierra todas las sesiones.',
  ),
  app_unreadable: text(
    "The secret of the user's authenticator app was stored under a key that SECRET_KEY no longer has. Its codes cannot be checked.",
    'El secreto de la app de autenticación se guardó con una clave que SECRET_KEY ya no tiene. Sus códigos no se pueden comprobar.',
  ),
  factor_not_enrolled: text(
    'A second factor is required, but the user has none. The login asks the user to enrol one.',
    'Se requiere un segundo factor, pero el usuario no tiene ninguno. El inicio de sesión pide registrar uno.',
  ),
  role_not_active: text(
    "The user's role is not active yet. The login works, but without the rights of the role.",
    'El rol del usuario aún no está activo. El inicio de sesión funciona, pero sin los permisos del rol.',
  ),
  decided_elsewhere: text(
    'A module or a service of this installation decides about this login. Postern cannot know its answer.',
    'Un módulo o un servicio de esta instalación decide este inicio de sesión. Postern no puede conocer su respuesta.',
  ),
} as const satisfies Record<string, Text>;
export type LoginReasonCode = keyof typeof loginReasons;

/** The answer to "Can they log in?" in one sentence. */
export const loginVerdicts = {
  yes: text('A login with the right secret works now.', 'Un inicio de sesión con el secreto correcto funciona ahora.'),
  maybe: text(
    'A login may work now, but Postern cannot be sure.',
    'Un inicio de sesión puede funcionar ahora, pero Postern no puede asegurarlo.',
  ),
  no: text(
    'No login works. [It works again by itself at {until}.]',
    'Ningún inicio de sesión funciona. [Vuelve a funcionar por sí solo a las {until}.]',
  ),
} as const satisfies Record<string, Text>;
