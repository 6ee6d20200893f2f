import type { NoticeKind, OperatorMailKind, TextChannel } from './kinds.js';
import type { TextLanguage } from './languages.js';

/** The facts of the notices, in one or two sentences. */
const sentences: Readonly<Record<NoticeKind, Readonly<Record<TextLanguage, string>>>> = {
  new_device: {
    en: 'Somebody signed in to your account on a new device: {device}.',
    es: 'Alguien ha iniciado sesión en tu cuenta desde un dispositivo nuevo: {device}.',
  },
  device_removed: {
    en: 'Your account was signed in on too many devices. The device that was unused for longest was signed out: {device}.',
    es: 'Tu cuenta estaba abierta en demasiados dispositivos. Se ha cerrado la sesión en el que llevaba más tiempo sin uso: {device}.',
  },
  account_locked: {
    en: 'Your account was locked after too many wrong passwords or codes.',
    es: 'Tu cuenta se ha bloqueado: demasiadas contraseñas o códigos incorrectos.',
  },
  token_misused: {
    en: 'Somebody tried to use a copy of the sign-in of one of your devices ({device}). It was refused.',
    es: 'Alguien ha intentado usar una copia de la sesión de uno de tus dispositivos ({device}). Se ha rechazado.',
  },
  token_shared: {
    en: 'Two programs use the sign-in of one of your devices ({device}). Somebody may have copied it.',
    es: 'Dos programas usan la sesión de uno de tus dispositivos ({device}). Alguien puede haberla copiado.',
  },
  password_changed: {
    en: 'The password of your account was changed.',
    es: 'Se ha cambiado la contraseña de tu cuenta.',
  },
  pin_changed: {
    en: 'The PIN of your account was changed.',
    es: 'Se ha cambiado el PIN de tu cuenta.',
  },
  email_changed: {
    en: 'The mail address of your account was changed.',
    es: 'Se ha cambiado la dirección de correo de tu cuenta.',
  },
  phone_changed: {
    en: 'The phone number of your account was changed.',
    es: 'Se ha cambiado el número de teléfono de tu cuenta.',
  },
  username_changed: {
    en: 'The username of your account was changed.',
    es: 'Se ha cambiado el nombre de usuario de tu cuenta.',
  },
  totp_added: {
    en: 'An authenticator app was added to your account.',
    es: 'Se ha añadido una aplicación de autenticación a tu cuenta.',
  },
  totp_removed: {
    en: 'An authenticator app was removed from your account.',
    es: 'Se ha quitado una aplicación de autenticación de tu cuenta.',
  },
  passkey_added: {
    en: 'A passkey was added to your account.',
    es: 'Se ha añadido una llave de acceso a tu cuenta.',
  },
  passkey_removed: {
    en: 'A passkey was removed from your account.',
    es: 'Se ha quitado una llave de acceso de tu cuenta.',
  },
  recovery_codes_made: {
    en: 'New recovery codes were created for your account. The old ones no longer work.',
    es: 'Se han creado nuevos códigos de recuperación para tu cuenta. Los anteriores ya no valen.',
  },
  external_identity_added: {
    en: 'An account at another provider was linked. It can now sign in to your account.',
    es: 'Se ha vinculado una cuenta de otro proveedor. Ahora puede iniciar sesión en tu cuenta.',
  },
  external_identity_removed: {
    en: 'An account at another provider can no longer sign in to your account.',
    es: 'Una cuenta de otro proveedor ya no puede iniciar sesión en tu cuenta.',
  },
  logged_out: {
    en: 'Your account was signed out on all devices, or on all others, because one of your devices ({device}) asked for it.',
    es: 'Se ha cerrado la sesión de tu cuenta en todos los dispositivos, o en todos menos uno ({device}), a petición de uno de ellos.',
  },
  support_login: {
    en: 'The support team of {app} has signed in to your account.',
    es: 'El equipo de soporte de {app} ha iniciado sesión en tu cuenta.',
  },
  support_login_asked: {
    en: 'The support team of {app} asks to sign in to your account.',
    es: 'El equipo de soporte de {app} pide iniciar sesión en tu cuenta.',
  },
  account_recovered: {
    en: 'Your account was recovered with a code, and all devices were signed out.',
    es: 'Se ha recuperado tu cuenta con un código y se ha cerrado la sesión en todos los dispositivos.',
  },
  pin_recovery: {
    en: 'A new PIN was set for your account with a code. It replaces your PIN later. Until then you can cancel it in your account.',
    es: 'Se ha fijado un PIN nuevo para tu cuenta con un código. Sustituirá al tuyo más tarde. Hasta entonces puedes cancelarlo en tu cuenta.',
  },
};

/** What the user can do, if the event was not caused by the user. */
type Advice = 'check_devices' | 'recover_account' | 'ask_for_help';

const advices: Readonly<Record<Advice, Readonly<Record<TextLanguage, string>>>> = {
  check_devices: {
    en: 'sign out the devices that you do not know, and change your password if you have one',
    es: 'cierra la sesión en los dispositivos que no conozcas y cambia tu contraseña si tienes una',
  },
  recover_account: { en: 'recover your account', es: 'recupera tu cuenta' },
  ask_for_help: {
    en: 'nobody has signed in. If it stays locked, ask the people who run {app}',
    es: 'nadie ha iniciado sesión. Si sigue bloqueada, pregunta a quien administra {app}',
  },
};

/** The advice where there is little room. */
const shortAdvices: typeof advices = {
  ...advices,
  check_devices: { en: 'check your devices', es: 'revisa tus dispositivos' },
};

/** After these events, users cannot sign in, and look at their devices, as the usual advice says. */
const otherAdvices: Partial<Record<NoticeKind, Advice>> = {
  password_changed: 'recover_account',
  account_recovered: 'recover_account',
  account_locked: 'ask_for_help',
};

/** The text around the sentence, by channel. */
const frames: Readonly<
  Record<TextChannel, Readonly<Record<TextLanguage, (sentence: string, advice: string) => string>>>
> = {
  push: {
    en: (sentence, advice) => `${sentence} If this was not you, ${advice}.`,
    es: (sentence, advice) => `${sentence} Si no has sido tú, ${advice}.`,
  },
  sms: {
    en: (sentence, advice) => `{app}: ${sentence} If this was not you, ${advice}.`,
    es: (sentence, advice) => `{app}: ${sentence} Si no has sido tú, ${advice}.`,
  },
  email: {
    en: (sentence, advice) => `Subject: {app}: ${sentence}

${sentence}

When: {time}
Device: {device}
Network: {address}

If this was you, you do not need to do anything. If not, ${advice}.`,
    es: (sentence, advice) => `Subject: {app}: ${sentence}

${sentence}

Cuándo: {time}
Dispositivo: {device}
Red: {address}

Si has sido tú, no tienes que hacer nada. Si no, ${advice}.`,
  },
};

/** What the user can do about a support login. Its notices name no device: the operator's is nobody's business. */
const supportAdvices: Partial<Record<NoticeKind, Readonly<Record<TextLanguage, string>>>> = {
  support_login: {
    en: 'In your account you see why, and you can end it at any time.',
    es: 'En tu cuenta ves el motivo y puedes terminarlo cuando quieras.',
  },
  support_login_asked: {
    en: 'In your account you see why, and you allow or refuse it.',
    es: 'En tu cuenta ves el motivo y lo permites o lo rechazas.',
  },
};

const supportFrames: Readonly<Record<TextChannel, (sentence: string, advice: string) => string>> = {
  push: (sentence, advice) => `${sentence} ${advice}`,
  sms: (sentence, advice) => `{app}: ${sentence} ${advice}`,
  email: (sentence, advice) => `Subject: {app}: ${sentence}\n\n${sentence}\n\n${advice}`,
};

/** The template of a notice. */
export function noticeText(channel: TextChannel, kind: NoticeKind, language: TextLanguage): string {
  const ofSupport = supportAdvices[kind];
  if (ofSupport !== undefined) return supportFrames[channel](sentences[kind][language], ofSupport[language]);
  const advice = (channel === 'email' ? advices : shortAdvices)[otherAdvices[kind] ?? 'check_devices'];
  return frames[channel][language](sentences[kind][language], advice[language]);
}

/** The text of a mail about a disabled webhook, around the reason. */
const disabledWebhook: Readonly<Record<TextLanguage, (reason: string) => string>> = {
  en: (reason) => `Subject: {app}: the webhook to {host} was disabled

{app} no longer sends events to {host}: ${reason}. The webhook is disabled until an operator enables it.

When: {time}
Webhook: {id}

When the server works again, enable the webhook in the console:

    {console}/webhooks/{id}

Or use the API: set "enabled" to true with PATCH /admin/v1/webhooks/{id}. Then replay the events that occurred in the meantime. They are kept for 30 days.`,
  es: (reason) => `Subject: {app}: se ha desactivado el webhook de {host}

{app} ya no envía eventos a {host}: ${reason}. El webhook queda desactivado hasta que un operador lo active.

Cuándo: {time}
Webhook: {id}

Cuando el servidor vuelva a funcionar, activa el webhook en la consola:

    {console}/webhooks/{id}

O usa la API: pon "enabled" a true con PATCH /admin/v1/webhooks/{id}. Después, repite los eventos ocurridos mientras tanto. Se conservan 30 días.`,
};

/** The templates of the mails to operators. */
export const operatorTexts: Readonly<Record<`email.${OperatorMailKind}`, Readonly<Record<TextLanguage, string>>>> = {
  'email.webhook_gone': {
    en: disabledWebhook.en('its server answered with the status 410'),
    es: disabledWebhook.es('su servidor respondió con el estado 410'),
  },
  'email.webhook_failing': {
    en: disabledWebhook.en('its server has accepted nothing for five days'),
    es: disabledWebhook.es('su servidor no ha aceptado nada en cinco días'),
  },
};

/** The value of a placeholder for an unknown device or network. */
export const unknown: Readonly<Record<TextLanguage, string>> = { en: 'unknown', es: 'desconocido' };
