import { type Text, text } from './text.js';

/**
 * Field errors: the codes inside `errors[]` of a `validation_failed` problem. A message contains the part in square
 * brackets only if the parameters of this part have values.
 */
export const fieldErrors = {
  required: text('This field is required.', 'Este campo es obligatorio.'),
  invalid_type: text('This must be: {expected}.', 'Debe ser: {expected}.'),
  invalid_choice: text('This must be one of: {allowed}.', 'Debe ser uno de: {allowed}.'),
  none_configured: text(
    'No valid value of this field is configured in this installation.',
    'En esta instalación no hay configurado ningún valor válido para este campo.',
  ),
  redirect_not_allowed: text(
    'This address is not in REDIRECT_URIS of this installation.',
    'Esta dirección no está en REDIRECT_URIS de esta instalación.',
  ),
  login_link_off: text(
    'Mails have no links here. LOGIN_LINK=on turns them on.',
    'Aquí los correos no llevan enlaces. LOGIN_LINK=on los activa.',
  ),
  no_redirect_client: text(
    'This provider takes no logins by redirect here: client_id of {name} in OIDC_PROVIDERS, or PUBLIC_URL, is missing.',
    'Este proveedor no acepta aquí inicios de sesión por redirección: falta client_id de {name} en OIDC_PROVIDERS, o PUBLIC_URL.',
  ),
  registration_off: text(
    'Only operators can create accounts in this installation.',
    'En esta instalación solo los operadores pueden crear cuentas.',
  ),
  no_tenants: text(
    'All accounts of this provider have one issuer, so a tenant says nothing.',
    'Todas las cuentas de este proveedor tienen el mismo emisor, así que un tenant no dice nada.',
  ),
  tenant_not_listed: text(
    'The accounts of this tenant may not log in: it is not in `tenants` of the provider in OIDC_PROVIDERS.',
    'Las cuentas de este tenant no pueden iniciar sesión: no está en `tenants` del proveedor en OIDC_PROVIDERS.',
  ),
  not_linked: text(
    'No user is linked to this account at the provider.',
    'Ningún usuario está vinculado a esta cuenta del proveedor.',
  ),
  unknown_category: text(
    'There is no category with this name.[ Did you mean {suggestion}?]',
    'No hay ninguna categoría con este nombre.[ ¿Querías decir {suggestion}?]',
  ),
  unknown_topic: text('There is no topic with this key.', 'No hay ningún tema con esta clave.'),
  category_is_critical: text(
    'Nobody can turn off this category: it is critical.',
    'Nadie puede desactivar esta categoría: es crítica.',
  ),
  empty_window: text(
    'These quiet hours never begin: from and until must differ, and days needs at least one day.',
    'Estas horas de silencio nunca empiezan: from y until deben ser distintos, y days necesita al menos un día.',
  ),
  no_digest: text(
    'This needs the digest of the category, and it has none.',
    'Esto necesita el resumen de la categoría, y no tiene ninguno.',
  ),
  invalid_schedule: text(
    'This must be a duration from 15m to 7d, or a time such as daily 09:00 or weekly mon 09:00.',
    'Debe ser una duración de 15m a 7d, o una hora como daily 09:00 o weekly mon 09:00.',
  ),
  unknown_time_zone: text(
    'This must be the name of a time zone, such as Europe/Madrid.',
    'Debe ser el nombre de una zona horaria, como Europe/Madrid.',
  ),
  data_invalid: text(
    'This does not match the data_schema of the category: {reason}.',
    'No cumple el data_schema de la categoría: {reason}.',
  ),
  bad_schema: text(
    'This is not a schema that a category can have: {reason}.[ Did you mean {suggestion}?]',
    'No es un esquema que pueda tener una categoría: {reason}.[ ¿Querías decir {suggestion}?]',
  ),
  bad_template: text(
    'The template has a fault at character {position}: {reason}.[ Did you mean {suggestion}?]',
    'La plantilla tiene un error en el carácter {position}: {reason}.[ ¿Querías decir {suggestion}?]',
  ),
  template_too_large: text(
    'Rendering this takes more than 50,000 steps or 256 KB of text.',
    'Generar esto requiere más de 50.000 pasos o 256 KB de texto.',
  ),
  invalid_template_name: text(
    'The name of a template is push, email or sms, a dot and a locale, such as email.es-MX.',
    'El nombre de una plantilla es push, email o sms, un punto y un idioma, como email.es-MX.',
  ),
  not_of_channel: text(
    'A template for {channel} does not have this. It has: {allowed}.',
    'Una plantilla para {channel} no tiene esto. Tiene: {allowed}.',
  ),
  channel_not_available: text(
    'Steps cannot use this channel here. They can use: {allowed}.',
    'Aquí los pasos no pueden usar este canal. Pueden usar: {allowed}.',
  ),
  public_url_required: text(
    'Mail that is not critical needs a link to unsubscribe: set PUBLIC_URL to an https URL.',
    'Los correos que no son críticos necesitan un enlace para darse de baja: configura PUBLIC_URL con una URL https.',
  ),
  step_order: text('This step is earlier than the one before it.', 'Este paso es anterior al que lo precede.'),
  invalid_duration: text(
    'This must be a duration from {min} to {max}, such as 90s, 15m, 1h or 2d.',
    'Debe ser una duración de {min} a {max}, como 90s, 15m, 1h o 2d.',
  ),
  invalid_locale: text('This must be a locale, such as en or es-MX.', 'Debe ser un idioma, como en o es-MX.'),
  not_of_path: text('This is not the name in the path.', 'No es el nombre de la ruta.'),
  invalid_cursor: text('This is not a cursor of this list and sort.', 'No es un cursor de esta lista con este orden.'),
  invalid_format: text('This does not have the expected format.', 'No tiene el formato esperado.'),
  reserved_id: text('This id is reserved.', 'Este id está reservado.'),
  own_account: text(
    'A bulk action does not change your own account.',
    'Una acción en bloque no cambia tu propia cuenta.',
  ),
  no_role: text('The user has no role. Assign one first.', 'El usuario no tiene ningún rol. Asígnale uno primero.'),
  invalid_characters: text('This contains characters that are not allowed.', 'Contiene caracteres no permitidos.'),
  invalid_time: text(
    'This must be a time that exists, such as 2030-01-31T12:00:00Z.',
    'Debe ser una hora que exista, como 2030-01-31T12:00:00Z.',
  ),
  in_the_past: text(
    'This is in the past. It must be a time in the future, such as 2030-01-31T12:00:00Z.',
    'Está en el pasado. Debe ser una hora futura, como 2030-01-31T12:00:00Z.',
  ),
  too_far: text('This is more than 366 days ahead.', 'Faltan más de 366 días para esa hora.'),
  time_in_future: text(
    'This is in the future. It must be a time in the past.',
    'Está en el futuro. Debe ser una hora pasada.',
  ),
  time_in_past: text(
    'This is in the past. It must be a time in the future, such as 2030-01-31T12:00:00Z.',
    'Está en el pasado. Debe ser una hora futura, como 2030-01-31T12:00:00Z.',
  ),
  code_used: text(
    'This code was used already. Wait until your app shows the next one.',
    'Este código ya se usó. Espera a que tu aplicación muestre el siguiente.',
  ),
  invalid_row: text(
    'This row has more cells than headings, a quote that never ends, or too many characters.',
    'Esta fila tiene más celdas que encabezados, una comilla que no termina o demasiados caracteres.',
  ),
  not_later: text('This must be later than {field}.', 'Debe ser posterior a {field}.'),
  step_too_short: text(
    'This step is too short for the time span: an answer has at most {max} values, and values by minute are kept for 2 days, by hour for 90 days.[ Use one of: {allowed}.]',
    'Este paso es demasiado corto para el periodo: una respuesta tiene como máximo {max} valores, y los valores por minuto se guardan 2 días y por hora 90 días.[ Usa uno de: {allowed}.]',
  ),
  invalid_url: text('This is not an allowed URL ({reason}).', 'No es una URL permitida ({reason}).'),
  invalid_identity: text('This is not a valid {type}.', 'No es un valor válido de tipo {type}.'),
  invalid_network: text(
    'This must be an IP address, or a range such as 203.0.113.0/24 or 2001:db8::/32.',
    'Debe ser una dirección IP, o un rango como 203.0.113.0/24 o 2001:db8::/32.',
  ),
  own_address: text(
    'This contains the address of this request, so you would lock yourself out. Send allow_own if you want that.',
    'Esto contiene la dirección de esta solicitud: perderías tu propio acceso. Si es lo que quieres, envía allow_own.',
  ),
  invalid_pin: text('A PIN has 4 to 12 digits.', 'Un PIN tiene de 4 a 12 dígitos.'),
  pin_of_user: text(
    'Only the user chooses the PIN. An operator can remove it.',
    'Solo el usuario elige el PIN. Un operador puede quitarlo.',
  ),
  invalid_number: text(
    'This must be a number of at most 15 significant digits.',
    'Debe ser un número de 15 cifras significativas como máximo.',
  ),
  inexact_number: text(
    'This number cannot be stored exactly. Send it as a string.',
    'Este número no puede guardarse con exactitud. Envíalo como texto.',
  ),
  duplicate_member: text('This name occurs more than once.', 'Este nombre aparece más de una vez.'),
  reserved_member: text(
    'Postern cannot store a member with this name.',
    'Postern no puede guardar un miembro con este nombre.',
  ),
  invalid_key: text(
    'This must be a public key on the curve P-256 (kty EC) or Ed25519 (kty OKP), without private members.',
    'Debe ser una clave pública de la curva P-256 (kty EC) o Ed25519 (kty OKP), sin miembros privados.',
  ),
  invalid_passkey: text(
    'This is not a new passkey for the last options.',
    'No es una clave de acceso nueva para las últimas opciones.',
  ),
  invalid_hash: text(
    'The format of this password hash is not supported.',
    'El formato de este hash de contraseña no es compatible.',
  ),
  invalid_hash_length: text(
    'This password hash has a wrong length ({part}): {length} bytes. It must be from {min} to {max}.',
    'Este hash de contraseña tiene una longitud incorrecta ({part}): {length} bytes. Debe ser de {min} a {max}.',
  ),
  hash_too_expensive: text(
    'This password hash costs too much to verify: {measure} is {value}. The limit is {max}.',
    'Verificar este hash de contraseña cuesta demasiado: {measure} es {value}. El límite es {max}.',
  ),
  too_many_schemes: text(
    'Hashes of {max} other algorithms or parameters are already imported. That is the maximum.',
    'Ya se importaron hashes de otros {max} algoritmos o parámetros. Es el máximo.',
  ),
  schemes_too_expensive: text(
    'This hash algorithm costs {cost}, and {sum} together with those in use. The limit is {max} (IMPORTED_HASH_COST_LIMIT).',
    'Este algoritmo de hash cuesta {cost}, y {sum} junto con los que están en uso. El límite es {max} (IMPORTED_HASH_COST_LIMIT).',
  ),
  password_breached: text(
    'This password is in a public leak of passwords.',
    'Esta contraseña aparece en una filtración pública de contraseñas.',
  ),
  password_not_checked: text(
    'This password cannot be checked right now. Try again later.',
    'Esta contraseña no se puede comprobar en este momento. Inténtalo más tarde.',
  ),
  password_too_personal: text(
    'This password is your own name or address, or the name of this service.',
    'Esta contraseña es tu propio nombre o dirección, o el nombre de este servicio.',
  ),
  password_wrong: text('This is not your current password.', 'Esta no es tu contraseña actual.'),
  password_unchanged: text(
    'This is the password that must be changed. Choose another one.',
    'Esta es la contraseña que hay que cambiar. Elige otra.',
  ),
  password_too_common: text('This password is too common.', 'Esta contraseña es demasiado común.'),
  too_long: text('This may have at most {max} characters.', 'Puede tener como máximo {max} caracteres.'),
  too_short: text('This must have at least {min} characters.', 'Debe tener al menos {min} caracteres.'),
  too_many_bytes: text('This may take at most {max} bytes.', 'Puede ocupar como máximo {max} bytes.'),
  too_small: text('This must be at least {min}.', 'Debe ser al menos {min}.'),
  too_large: text('This must be at most {max}.', 'Debe ser como máximo {max}.'),
  too_many_items: text('This may have at most {max} items.', 'Puede tener como máximo {max} elementos.'),
  too_few_items: text('This must have at least {min} items.', 'Debe tener al menos {min} elementos.'),
  duplicate_items: text('This contains the same item twice.', 'Contiene el mismo elemento dos veces.'),
  identity_required: text(
    'At least one of username, email and phone is required.',
    'Se requiere al menos uno de username, email y phone.',
  ),
  identity_of_operator: text(
    'This belongs to a user with a role. Test identities are for users without a role.',
    'Esto pertenece a un usuario con un rol. Las identidades de prueba son para usuarios sin rol.',
  ),
  identity_taken: text('Another user has this value.', 'Otro usuario ya tiene este valor.'),
  unknown_authenticator: text(
    'This authenticator does not exist. Use one of: {allowed}.',
    'Este autenticador no existe. Usa uno de: {allowed}.',
  ),
  deleted_user: text('A user with this id was deleted.', 'Se eliminó un usuario con este id.'),
  unknown_user: text('This user does not exist.', 'Este usuario no existe.'),
  unknown_notification: text('This notification does not exist.', 'Esta notificación no existe.'),
  unknown_image: text('This image does not exist.', 'Esta imagen no existe.'),
  through_required: text(
    'Send `through` with a filter: the last sequence that it may match. So notifications that arrive meanwhile stay as they are.',
    'Envía `through` con un filtro: la última secuencia que puede abarcar. Así no cambian las notificaciones que lleguen entretanto.',
  ),
  conflicting_fields: text('Send only one of {fields}.', 'Envía solo uno de {fields}.'),
  one_required: text('One of {fields} is required.', 'Se requiere uno de {fields}.'),
  unreachable_url: text(
    'No file could be read from this URL. It must respond with 200 in time, without a redirect.',
    'No se pudo leer ningún archivo de esta URL. Debe responder con 200 a tiempo y sin redirigir.',
  ),
  // A delivery is one notification of one user.
  too_many_deliveries: text(
    'One request can create at most {max} notifications: one for each user of each item.',
    'Una solicitud puede crear como máximo {max} notificaciones: una por cada usuario de cada elemento.',
  ),
  too_much_published: text(
    'One request can publish at most {max} MiB: the size of each item counts once for each of its users.',
    'Una solicitud puede publicar como máximo {max} MiB: el tamaño de cada elemento cuenta una vez por cada usuario.',
  ),
  // For the header Idempotency-Key. The problem that contains this error has the same code.
  malformed_request: text(
    'Send this header once, with 1 to 255 printable ASCII characters.',
    'Envía esta cabecera una vez, con 1 a 255 caracteres ASCII imprimibles.',
  ),
  not_supported: text('This is not supported here.', 'Esto no se admite aquí.'),
  repeated_parameter: text('Send this parameter only once.', 'Envía este parámetro una sola vez.'),
  invalid_page: text('A page is a whole number from 1 to {max}.', 'Una página es un número entero de 1 a {max}.'),
  invalid_limit: text(
    'A limit is a whole number from {min} to {max}.',
    'Un límite es un número entero de {min} a {max}.',
  ),
  invalid_sort: text(
    'Cannot sort by "{value}"; did you mean "{suggestion}"? Fields: {allowed}.',
    'No se puede ordenar por "{value}"; ¿quisiste decir "{suggestion}"? Campos: {allowed}.',
  ),
  invalid_since: text(
    'This must be a time that exists, in the form {format}.',
    'Debe ser una hora que exista, con la forma {format}.',
  ),
  unknown_member: text(
    'There is no member "{value}"[; did you mean "{suggestion}"?][. Allowed: {known}.]',
    'No existe el miembro "{value}"[; ¿quisiste decir "{suggestion}"?][. Permitidos: {known}.]',
  ),
  unknown_parameter: text(
    'There is no parameter "{value}"[; did you mean "{suggestion}"?][. Allowed: {known}.]',
    'No existe el parámetro "{value}"[; ¿quisiste decir "{suggestion}"?][. Permitidos: {known}.]',
  ),
  unknown_filter_field: text(
    'Position {position}: there is no field "{value}"; did you mean "{suggestion}"? Fields: {allowed}.',
    'Posición {position}: no existe el campo "{value}"; ¿quisiste decir "{suggestion}"? Campos: {allowed}.',
  ),
  unknown_filter_op: text(
    'Position {position}: "{value}" is not an operator here; did you mean "{suggestion}"? Operators: {allowed}.',
    'Posición {position}: "{value}" no es un operador aquí; ¿quisiste decir "{suggestion}"? Operadores: {allowed}.',
  ),
  invalid_filter_value: text(
    'Position {position}: "{value}" is not valid (expected: {expected}).',
    'Posición {position}: "{value}" no es válido (se espera: {expected}).',
  ),
  invalid_filter_syntax: text(
    'Position {position}: expected {expected}.',
    'Posición {position}: se esperaba {expected}.',
  ),
  too_many_filters: text('A filter has at most {max} conditions.', 'Un filtro tiene como máximo {max} condiciones.'),
} as const satisfies Record<string, Text>;
export type FieldErrorCode = keyof typeof fieldErrors;
