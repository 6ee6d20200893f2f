import type { Texts } from '../en/index.js';

/** The purposes of messages. A kind is a channel and a purpose, such as `sms.code`. */
const purposes: Readonly<Record<string, string>> = {
  code: 'Código',
  proof_code: 'Código de confirmación',
  address_code: 'Código para una dirección nueva',
  recovery_code: 'Código de recuperación',
  registration_code: 'Código de registro',
  registration_taken: 'Aviso de cuenta existente',
  new_device: 'Aviso de dispositivo nuevo',
  token_misused: 'Aviso de un acceso copiado',
  token_shared: 'Aviso de un acceso con dos clientes',
  account_locked: 'Aviso de bloqueo',
  password_changed: 'Aviso de contraseña nueva',
  pin_changed: 'Aviso de PIN nuevo',
  email_changed: 'Aviso de correo nuevo',
  phone_changed: 'Aviso de teléfono nuevo',
  totp_added: 'Aviso de aplicación de autenticación',
  totp_removed: 'Aviso de aplicación de autenticación quitada',
  passkey_added: 'Aviso de llave de acceso',
  passkey_removed: 'Aviso de llave de acceso quitada',
  recovery_codes_made: 'Aviso de códigos de recuperación nuevos',
  external_identity_added: 'Aviso de cuenta vinculada',
  external_identity_removed: 'Aviso de cuenta desvinculada',
  account_recovered: 'Aviso de recuperación',
  pin_recovery: 'Recuperación del PIN',
};
const kindsBy = (channel: string, name: string) =>
  Object.entries(purposes).map(([purpose, what]) => [`${channel}.${purpose}`, `${what} por ${name}`]);

export const messages: Texts['messages'] = {
  title: 'Mensajes',
  show: 'Mostrar',
  views: { failed: 'Fallidos', queued: 'En espera', sent: 'Enviados', all: 'Todos' },
  search: 'El teléfono o correo exacto',
  channel: 'Canal',
  mail: 'Correo',
  state: 'Estado',
  states: {
    queued: 'En espera',
    sent: 'Enviado',
    failed: 'Fallido',
    expired: 'Caducado',
    dropped: 'No enviado',
    delivered: 'Llegó',
    undelivered: 'No llegó',
  },
  whys: {
    queued: 'Espera su turno o el siguiente intento.',
    expired: 'Dejó de ser válido antes del primer intento.',
    dropped: 'Nadie tiene esa identidad, o se alcanzó un límite.',
  },
  kinds: Object.fromEntries([...kindsBy('sms', 'SMS'), ...kindsBy('email', 'correo')]),
  recipient: 'Para',
  user: 'Usuario',
  userId: 'Id del usuario',
  nobody: 'nadie',
  kind: 'Tipo',
  why: 'Motivo',
  provider: 'Proveedor',
  attempts: 'Intentos',
  changed: 'Cambió',
  created: 'Creado',
  expires: 'Válido hasta',
  action: 'Acción',
  retry: 'Reintentar',
  retried: 'El mensaje está de nuevo en la cola.',
  retryFailed: 'El mensaje no se puso en la cola.',
  detail: 'Mensaje',
  failedToRead: 'No se pudieron leer los mensajes.',
  empty: {
    failed: 'Ningún mensaje ha fallado',
    queued: 'Ningún mensaje espera',
    sent: 'No se envió ningún mensaje',
    all: 'No hay mensajes',
  },
  emptyWhy: {
    failed: 'Aquí aparecen los mensajes que un proveedor rechaza, con el motivo y un reintento.',
    queued: 'Los mensajes esperan aquí solo segundos, salvo que un proveedor no responda.',
    sent: 'Los códigos y avisos aparecen aquí durante 30 días.',
    all: 'Los códigos y avisos aparecen aquí durante 30 días.',
  },
  count: (n, capped) =>
    capped
      ? `más de ${n.toLocaleString('es')} mensajes`
      : `${n.toLocaleString('es')} ${n === 1 ? 'mensaje' : 'mensajes'}`,
};
