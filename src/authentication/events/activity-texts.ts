import type { Text } from '../../contract/errors.js';
import type { EventType } from './events.js';

const text = (en: string, es: string): Text => ({ en, es });

/** What happened, for the person whom it happened to. Placeholders are members of the event's data. */
const activityTexts: Readonly<Record<EventType, Text>> = {
  'login.started': text('A login was begun.', 'Se inició un acceso.'),
  'login.approved': text('You logged in.', 'Ha entrado en su cuenta.'),
  'login.rejected': text('A login failed.', 'Un acceso ha fallado.'),
  'login.refused_locked': text(
    'A login was refused because the account is locked.',
    'Se rechazó un acceso porque la cuenta está bloqueada.',
  ),
  'account.locked_by_guesses': text(
    'Logging in was locked after too many wrong secrets.',
    'El acceso se bloqueó tras demasiados secretos erróneos.',
  ),
  'token.deleted': text('A device was logged out.', 'Se cerró la sesión de un dispositivo.'),
  'device.changed': text('A device was described anew.', 'Cambió la descripción de un dispositivo.'),
  'device.removed': text('A device was removed.', 'Se quitó un dispositivo.'),
  'message.sent': text('A message was sent to you.', 'Se le envió un mensaje.'),
  'message.failed': text('A message to you could not be sent.', 'No se le pudo enviar un mensaje.'),
  'message.expired': text('A message to you was too late to be sent.', 'Un mensaje para usted ya no llegó a tiempo.'),
  'user.created': text('The account was made.', 'Se creó la cuenta.'),
  'user.changed': text('The account was changed: {fields}.', 'La cuenta cambió: {fields}.'),
  'user.password_changed': text('The password was changed.', 'Cambió la contraseña.'),
  'user.pin_changed': text('The PIN was changed.', 'Cambió el PIN.'),
  'totp.enrolled': text('Codes of an app were set up.', 'Se activaron los códigos de una aplicación.'),
  'totp.removed': text('Codes of an app were removed.', 'Se quitaron los códigos de una aplicación.'),
  'passkey.enrolled': text('A passkey was added.', 'Se añadió una llave de acceso.'),
  'passkey.removed': text('A passkey was removed.', 'Se quitó una llave de acceso.'),
  'passkey.refused': text(
    'A passkey was refused: it may have been copied.',
    'Se rechazó una llave de acceso: puede haber sido copiada.',
  ),
  'recovery_codes.made': text('New recovery codes were made.', 'Se crearon nuevos códigos de recuperación.'),
  'recovery_code.used': text(
    'A recovery code was used; {left} are left.',
    'Se usó un código de recuperación; quedan {left}.',
  ),
  'second_factors.removed': text('The second factors were removed.', 'Se quitaron los segundos factores.'),
  'external_identity.linked': text(
    'An account elsewhere was linked: {provider}.',
    'Se vinculó una cuenta externa: {provider}.',
  ),
  'external_identity.unlinked': text(
    'An account elsewhere was unlinked: {provider}.',
    'Se desvinculó una cuenta externa: {provider}.',
  ),
  'user.deactivated': text('The account was deactivated.', 'La cuenta se desactivó.'),
  'user.reactivated': text('The account was activated again.', 'La cuenta se reactivó.'),
  'user.locked': text('The account was locked.', 'La cuenta se bloqueó.'),
  'user.unlocked': text('The account was unlocked.', 'La cuenta se desbloqueó.'),
  'user.logged_out': text('Every device was logged out.', 'Se cerraron todas las sesiones.'),
  'user.deleted': text('The account was deleted.', 'La cuenta se eliminó.'),
  'role.link_made': text('A link for the role was made: {role}.', 'Se creó un enlace para el rol: {role}.'),
  'role.activated': text('The role takes effect: {role}.', 'El rol tiene efecto: {role}.'),
  'session.proven': text('A session was proven afresh.', 'Se confirmó una sesión de nuevo.'),
  'proof.started': text('A proof for a change was begun.', 'Se inició una prueba para un cambio.'),
  'proof.rejected': text('A proof for a change was wrong.', 'Una prueba para un cambio era errónea.'),
  'address.change_started': text('A new address was asked for: {field}.', 'Se pidió una nueva dirección: {field}.'),
  'address.change_rejected': text(
    'A code for a new address was wrong: {field}.',
    'Un código para una nueva dirección era erróneo: {field}.',
  ),
  'recovery.started': text('A recovery was asked for: {recovers}.', 'Se pidió una recuperación: {recovers}.'),
  'recovery.rejected': text('A code for a recovery was wrong.', 'Un código de recuperación era erróneo.'),
  'recovery.completed': text('The account was recovered: {recovers}.', 'La cuenta se recuperó: {recovers}.'),
  'pin_recovery.started': text(
    'A new PIN was set with a code. It counts after a delay.',
    'Se fijó un PIN nuevo con un código. Valdrá tras un plazo.',
  ),
  'pin_recovery.cancelled': text('A recovery of the PIN was cancelled.', 'Se anuló una recuperación del PIN.'),
  'registration.started': text('A registration was begun.', 'Se inició un registro.'),
  'registration.rejected': text('A code for a registration was wrong.', 'Un código de registro era erróneo.'),
  'key.created': text('An API key was made.', 'Se creó una clave de API.'),
  'key.revoked': text('An API key was revoked.', 'Se revocó una clave de API.'),
};

const isKnown = (type: string): type is EventType => Object.hasOwn(activityTexts, type);

/** The text of an event; of one that a later version wrote, its type. */
export function activityText(type: string): Text {
  return isKnown(type) ? activityTexts[type] : { en: type, es: type };
}
