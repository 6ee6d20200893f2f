import type { EventType } from '../audit/events.js';
import type { Text } from '../contract/errors/text.js';

const text = (en: string, es: string): Text => ({ en, es });

/** The texts of events for the user. Placeholders are members of the event's data. */
const activityTexts: Readonly<Record<EventType, Text>> = {
  'login.started': text('A sign-in was started.', 'Se empezó un inicio de sesión.'),
  'login.approved': text('You signed in.', 'Has iniciado sesión.'),
  'login.rejected': text('A sign-in failed.', 'Falló un inicio de sesión.'),
  'login.refused_locked': text(
    'A sign-in was refused because the account is locked.',
    'Se rechazó un inicio de sesión porque la cuenta está bloqueada.',
  ),
  'account.locked_by_guesses': text(
    'Signing in was locked after too many wrong passwords or codes.',
    'El inicio de sesión se bloqueó tras demasiadas contraseñas o códigos incorrectos.',
  ),
  'token.deleted': text('A device was signed out.', 'Se cerró la sesión de un dispositivo.'),
  'token.misused': text(
    'A copy of the sign-in of a device was used and refused.',
    'Se usó y se rechazó una copia de la sesión de un dispositivo.',
  ),
  'token.shared': text(
    'Two programs used the sign-in of one device.',
    'Dos programas usaron la sesión de un mismo dispositivo.',
  ),
  'device.changed': text('The description of a device was changed.', 'Cambió la descripción de un dispositivo.'),
  'device.removed': text('A device was removed.', 'Se quitó un dispositivo.'),
  'message.sent': text('A message was sent to you.', 'Se te envió un mensaje.'),
  'message.failed': text('A message to you could not be sent.', 'No se te pudo enviar un mensaje.'),
  'message.retried': text('A message to you is sent again.', 'Se vuelve a enviar un mensaje para ti.'),
  'message.expired': text(
    'A message to you expired before it was sent.',
    'Un mensaje para ti caducó antes de enviarse.',
  ),
  'message.undelivered': text('A message to you did not arrive.', 'Un mensaje para ti no llegó.'),
  'users.bulk': text('A bulk action was started: {action}.', 'Se inició una acción en bloque: {action}.'),
  'user.created': text('The account was created.', 'Se creó la cuenta.'),
  'user.changed': text('The account was changed: {fields}.', 'La cuenta cambió: {fields}.'),
  'user.password_changed': text('The password was changed.', 'Cambió la contraseña.'),
  'user.pin_changed': text('The PIN was changed.', 'Cambió el PIN.'),
  'totp.enrolled': text('An authenticator app was added.', 'Se añadió una aplicación de autenticación.'),
  'totp.removed': text('An authenticator app was removed.', 'Se quitó una aplicación de autenticación.'),
  'passkey.enrolled': text('A passkey was added.', 'Se añadió una llave de acceso.'),
  'passkey.removed': text('A passkey was removed.', 'Se quitó una llave de acceso.'),
  'passkey.refused': text(
    'A passkey was refused because it may have been copied.',
    'Se rechazó una llave de acceso porque puede haber sido copiada.',
  ),
  'recovery_codes.made': text('New recovery codes were created.', 'Se crearon nuevos códigos de recuperación.'),
  'recovery_code.used': text(
    'A recovery code was used; {left} are left.',
    'Se usó un código de recuperación; quedan {left}.',
  ),
  'second_factors.removed': text('The second factors were removed.', 'Se quitaron los segundos factores.'),
  'external_identity.linked': text(
    'An external account was linked: {provider}.',
    'Se vinculó una cuenta externa: {provider}.',
  ),
  'external_identity.unlinked': text(
    'An external account was unlinked: {provider}.',
    'Se desvinculó una cuenta externa: {provider}.',
  ),
  'user.deactivated': text('The account was deactivated.', 'La cuenta se desactivó.'),
  'user.reactivated': text('The account was reactivated.', 'La cuenta se reactivó.'),
  'user.locked': text('The account was locked.', 'La cuenta se bloqueó.'),
  'user.unlocked': text('The account was unlocked.', 'La cuenta se desbloqueó.'),
  'user.logged_out': text('All devices were signed out.', 'Se cerraron todas las sesiones.'),
  'user.logged_out_elsewhere': text(
    'All other devices were signed out.',
    'Se cerraron las sesiones en los demás dispositivos.',
  ),
  'user.deleted': text('The account was deleted.', 'La cuenta se eliminó.'),
  'role.link_made': text(
    'A link to activate the role was created: {role}.',
    'Se creó un enlace para activar el rol: {role}.',
  ),
  'role.activated': text('The role took effect: {role}.', 'El rol entró en vigor: {role}.'),
  'setup_link.created': text('A set-up link was created: {role}.', 'Se creó un enlace de configuración: {role}.'),
  'support_login.requested': text(
    'The support team asked to sign in to your account.',
    'El equipo de soporte pidió iniciar sesión en tu cuenta.',
  ),
  'support_login.allowed': text(
    'You let the support team sign in to your account.',
    'Permitiste que el equipo de soporte iniciara sesión en tu cuenta.',
  ),
  'support_login.refused': text(
    'You did not let the support team sign in to your account.',
    'No permitiste que el equipo de soporte iniciara sesión en tu cuenta.',
  ),
  'support_login.started': text(
    'The support team signed in to your account.',
    'El equipo de soporte inició sesión en tu cuenta.',
  ),
  'support_login.ended': text('The sign-in of the support team has ended.', 'La sesión del equipo de soporte terminó.'),
  'session.proven': text('You confirmed that it is you.', 'Confirmaste que eres tú.'),
  'proof.started': text('Re-authentication for a change was started.', 'Se inició una reautenticación para un cambio.'),
  'proof.rejected': text('Re-authentication for a change failed.', 'Una reautenticación para un cambio ha fallado.'),
  'address.change_started': text(
    'A change of an address was started: {field}.',
    'Se inició un cambio de dirección: {field}.',
  ),
  'address.change_rejected': text(
    'A code for a new address was wrong: {field}.',
    'Un código para una nueva dirección era erróneo: {field}.',
  ),
  'recovery.started': text('A recovery was started: {recovers}.', 'Se inició una recuperación: {recovers}.'),
  'recovery.rejected': text('A code for a recovery was wrong.', 'Un código de recuperación era erróneo.'),
  'recovery.completed': text('The account was recovered: {recovers}.', 'La cuenta se recuperó: {recovers}.'),
  'pin_recovery.started': text(
    'A new PIN was set with a code. It takes effect later.',
    'Se fijó un PIN nuevo con un código. Entrará en vigor más tarde.',
  ),
  'pin_recovery.cancelled': text('A recovery of the PIN was cancelled.', 'Se anuló una recuperación del PIN.'),
  'registration.started': text('A registration was started.', 'Se inició un registro.'),
  'registration.rejected': text('A code for a registration was wrong.', 'Un código de registro era erróneo.'),
  'guest.merged': text('The inbox of a guest was taken over.', 'Se incorporó la bandeja de un invitado.'),
  'registration.completed': text('The registration was completed.', 'Se completó el registro.'),
  'identity.verified': text('An address was verified: {field}.', 'Se verificó una dirección: {field}.'),
  'webhook.created': text('A webhook was created.', 'Se creó un webhook.'),
  'webhook.changed': text('A webhook was changed.', 'Cambió un webhook.'),
  'webhook.deleted': text('A webhook was deleted.', 'Se eliminó un webhook.'),
  'webhook.secret_rotated': text('The secret of a webhook was replaced.', 'Se sustituyó el secreto de un webhook.'),
  'webhook.replayed': text('Events were sent to a webhook again.', 'Se volvieron a enviar eventos a un webhook.'),
  'webhook.disabled': text('A webhook was disabled.', 'Se desactivó un webhook.'),
  'key.created': text('An API key was created.', 'Se creó una clave de API.'),
  'key.revoked': text('An API key was revoked.', 'Se revocó una clave de API.'),
  'backup.started': text('A backup was started.', 'Se empezó una copia de seguridad.'),
  'backup.verification_started': text(
    'The verification of a backup was started.',
    'Se empezó la comprobación de una copia de seguridad.',
  ),
  'categories.changed': text(
    'The categories of notifications were changed.',
    'Cambiaron las categorías de notificaciones.',
  ),
  'topic.created': text('The topic {topic} was created.', 'Se creó el tema {topic}.'),
  'topic.changed': text('The topic {topic} was changed.', 'Se cambió el tema {topic}.'),
  'topic.deleted': text('The topic {topic} was deleted.', 'Se eliminó el tema {topic}.'),
  'topic.subscriptions_changed': text(
    'Subscriptions to the topic {topic} were changed.',
    'Se cambiaron las suscripciones al tema {topic}.',
  ),
  'publication.created': text('A publication was created.', 'Se creó una publicación.'),
  'publication.changed': text('A publication was changed.', 'Se cambió una publicación.'),
  'publication.paused': text('A publication was paused.', 'Se pausó una publicación.'),
  'publication.resumed': text('A publication was resumed.', 'Se reanudó una publicación.'),
  'publication.cancelled': text('A publication was cancelled.', 'Se canceló una publicación.'),
  'publication.recalled': text('A publication was recalled.', 'Se retiró una publicación.'),
  'channel.paused': text('The channel {channel} was paused: {reason}.', 'Se pausó el canal {channel}: {reason}.'),
  'channel.resumed': text('The pause of the channel {channel} ended.', 'Terminó la pausa del canal {channel}.'),
  'audience.created': text(
    'A service was allowed to get access tokens: {audience}.',
    'Se permitió que un servicio reciba tokens de acceso: {audience}.',
  ),
  'audience.changed': text(
    'The access tokens of a service were changed: {audience}.',
    'Cambiaron los tokens de acceso de un servicio: {audience}.',
  ),
  'audience.deleted': text(
    'A service gets no access tokens any more: {audience}.',
    'Un servicio ya no recibe tokens de acceso: {audience}.',
  ),
  'signing_keys.rotated': text(
    'The keys of access tokens were rotated.',
    'Se rotaron las claves de los tokens de acceso.',
  ),
  'block.created': text('An address was blocked: {address}.', 'Se bloqueó una dirección: {address}.'),
  'block.deleted': text('An address was unblocked: {address}.', 'Se desbloqueó una dirección: {address}.'),
  'test_identity.created': text(
    'The address {identity} takes a fixed code for tests until {expires_at}.',
    'La dirección {identity} acepta un código fijo para pruebas hasta {expires_at}.',
  ),
  'test_identity.deleted': text(
    'The address {identity} takes no fixed code for tests any more.',
    'La dirección {identity} ya no acepta un código fijo para pruebas.',
  ),
  'test_identity.used': text('A fixed code for tests was used.', 'Se usó un código fijo para pruebas.'),
  'preferences.changed': text('An operator changed what reaches you.', 'Un operador cambió lo que te llega.'),
  'suppression.created': text(
    'Your mail address gets no mail except codes from now on.',
    'Tu dirección de correo ya no recibe mensajes, salvo códigos.',
  ),
  'suppression.deleted': text('A mail address gets mail again.', 'Una dirección de correo vuelve a recibir mensajes.'),
  'sms.prefix_paused': text(
    'Codes to {prefix} are paused for an hour: {used} of {sent} were used.',
    'Los códigos a {prefix} se detienen una hora: se usaron {used} de {sent}.',
  ),
};

const isKnown = (type: string): type is EventType => Object.hasOwn(activityTexts, type);

/** The text of an event. For an unknown type, which a later version has written, the text is the name of the type. */
export function activityText(type: string): Text {
  return isKnown(type) ? activityTexts[type] : { en: type, es: type };
}
