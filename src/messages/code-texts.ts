import type { MessageChannel } from '../contract/administration.js';
import type { CodeKind, codeMailKinds } from './kinds.js';
import type { TextLanguage } from './languages.js';

/**
 * The texts of messages with codes. A mail starts with its subject and an empty line, as in an operator's own templates.
 * The code comes early in the text, so that phones offer it above the keyboard.
 */
export const codeTexts: Readonly<
  Record<
    `${MessageChannel}.${CodeKind}` | `email.${keyof typeof codeMailKinds}`,
    Readonly<Record<TextLanguage, string>>
  >
> = {
  'sms.code': {
    en: 'Your {app} code is {code}. Do not share it with anyone.',
    es: 'Tu código de {app} es {code}. No lo compartas con nadie.',
  },
  'sms.proof_code': {
    en: '{code} is your {app} code to change your account. Do not share it with anyone.',
    es: '{code} es tu código de {app} para cambiar tu cuenta. No lo compartas.',
  },
  'sms.address_code': {
    en: '{code} is your {app} code to confirm this number. Do not share it with anyone.',
    es: '{code} es tu código de {app} para confirmar este número.',
  },
  'sms.recovery_code': {
    en: '{code} is your {app} code to recover your account. {app} will never ask you for it.',
    es: '{code} es tu código de {app} para recuperar tu cuenta.',
  },
  'sms.password_code': {
    en: '{code} is your {app} password for one sign-in. You then choose your own. Do not share it.',
    es: '{code} es tu contraseña de {app} para iniciar sesión una vez. Luego eliges la tuya. No la compartas.',
  },
  'sms.registration_code': {
    en: '{code} is your {app} code to sign up. Do not share it with anyone.',
    es: '{code} es tu código de {app} para registrarte. No lo compartas.',
  },
  'sms.pin_recovery': {
    en: '{app}: a new PIN replaces yours at {time}. If you did not set it, choose "Forgot your PIN?" when you sign in, and cancel it with the code {code}.',
    es: '{app}: un PIN nuevo sustituirá al tuyo el {time}. Si no has sido tú, elige "¿Olvidaste tu PIN?" al iniciar sesión y cancélalo con el código {code}.',
  },
  'sms.registration_taken': {
    en: 'Somebody tried to sign up at {app} with this number, but it already has an account. If it was you, sign in instead.',
    es: 'Alguien ha intentado registrarse en {app} con este número, que ya tiene una cuenta. Si has sido tú, inicia sesión.',
  },
  'sms.registration_unproven': {
    en: 'Somebody tried to sign up at {app} with this number. An account has it already, but nobody has confirmed it. Recover that account with a code.',
    es: 'Alguien ha intentado registrarse en {app} con este número. Ya hay una cuenta con él, sin confirmar. Recupérala con un código.',
  },
  'email.code': {
    en: `Subject: {code} is your {app} code

Your code to sign in to {app} is

    {code}

The code is valid for {minutes} minutes. Do not share it with anyone. {app} will never ask you for it.

If you did not try to sign in, you do not need to do anything. Nobody can sign in without this code.`,
    es: `Subject: {code} es tu código de {app}

Tu código para iniciar sesión en {app} es

    {code}

El código es válido durante {minutes} minutos. No lo compartas con nadie. {app} nunca te lo pedirá.

Si no has intentado iniciar sesión, no tienes que hacer nada. Nadie puede hacerlo sin este código.`,
  },
  'email.code_link': {
    en: `Subject: {code} is your {app} code

Your code to sign in to {app} is

    {code}

You can also open this link. It shows the code, or signs you in if you open it where you asked for it:

    {link}

The code is valid for {minutes} minutes. Do not share the code or the link with anyone. {app} will never ask you for it.

Who asked for it:

Device: {device}
Network: {address}
Time: {time}

If this was not you, you do not need to do anything. Nobody can sign in without this code.`,
    es: `Subject: {code} es tu código de {app}

Tu código para iniciar sesión en {app} es

    {code}

También puedes abrir este enlace. Muestra el código, o inicia la sesión si lo abres donde lo pediste:

    {link}

El código es válido durante {minutes} minutos. No compartas con nadie el código ni el enlace. {app} nunca te lo pedirá.

Quién lo ha pedido:

Dispositivo: {device}
Red: {address}
Hora: {time}

Si no has sido tú, no tienes que hacer nada. Nadie puede iniciar sesión sin este código.`,
  },
  'email.proof_code': {
    en: `Subject: {code} is your {app} code

Your code to change your account at {app} is

    {code}

The code is valid for {minutes} minutes. Do not share it with anyone. {app} will never ask you for it.

If you did not try to change anything, somebody else is signed in to your account. Sign out the devices that you do not know, and change your password if you have one.`,
    es: `Subject: {code} es tu código de {app}

Tu código para cambiar tu cuenta de {app} es

    {code}

El código es válido durante {minutes} minutos. No lo compartas con nadie. {app} nunca te lo pedirá.

Si no querías cambiar nada, otra persona ha iniciado sesión en tu cuenta. Cierra la sesión en los dispositivos que no conozcas y cambia tu contraseña si tienes una.`,
  },
  'email.address_code': {
    en: `Subject: {code} confirms your address at {app}

Your code to confirm this address for your account at {app} is

    {code}

The code is valid for {minutes} minutes. If you have no account at {app}, somebody entered a wrong address. You can ignore this mail.`,
    es: `Subject: {code} confirma tu dirección en {app}

Tu código para confirmar esta dirección para tu cuenta de {app} es

    {code}

El código es válido durante {minutes} minutos. Si no tienes cuenta en {app}, alguien ha escrito mal una dirección. Puedes ignorar este correo.`,
  },
  'email.recovery_code': {
    en: `Subject: {code} is your {app} recovery code

Your code to recover your account at {app} is

    {code}

The code is valid for {minutes} minutes. Do not share it with anyone. {app} will never ask you for it.

If you did not request it, you do not need to do anything. Nobody can recover your account without this code.`,
    es: `Subject: {code} es tu código de recuperación de {app}

Tu código para recuperar tu cuenta de {app} es

    {code}

El código es válido durante {minutes} minutos. No lo compartas con nadie. {app} nunca te lo pedirá.

Si no lo has pedido, no tienes que hacer nada. Nadie puede recuperar tu cuenta sin este código.`,
  },
  'email.password_code': {
    en: `Subject: Set your password at {app}

Sign in to {app} with this code in place of your password:

    {code}

You then choose a password of your own. The code works for one sign-in, and your old password does not work any more. Do not share it with anyone. {app} will never ask you for it.

The people who run {app} have sent you this code. They do not know it. If you did not ask for it, ask them why.`,
    es: `Subject: Elige tu contraseña de {app}

Entra en {app} con este código en lugar de tu contraseña:

    {code}

Después eliges una contraseña tuya. El código vale para iniciar sesión una sola vez, y tu contraseña anterior ya no funciona. No lo compartas con nadie. {app} nunca te lo pedirá.

Te ha enviado este código quien gestiona {app}, que no lo conoce. Si no lo has pedido, pregunta por qué lo has recibido.`,
  },
  'email.registration_code': {
    en: `Subject: {code} is your {app} code

Your code to sign up at {app} is

    {code}

The code is valid for {minutes} minutes. If you did not want to sign up, you can ignore this mail.`,
    es: `Subject: {code} es tu código de {app}

Tu código para registrarte en {app} es

    {code}

El código es válido durante {minutes} minutos. Si no querías registrarte, puedes ignorar este correo.`,
  },
  'email.pin_recovery': {
    en: `Subject: A new PIN for your account at {app}

Somebody has set a new PIN for your account at {app}, with a code that was sent to another address of the account. The new PIN replaces yours at

    {time}

If this was you, you do not need to do anything. If not, cancel the new PIN before that time: sign in with your present PIN, and choose "Cancel the new PIN" in your account. If you cannot sign in, choose "Forgot your PIN?" and then "Cancel a new PIN", and enter this code:

    {code}

The code can only cancel the new PIN.`,
    es: `Subject: Un PIN nuevo para tu cuenta de {app}

Alguien ha fijado un PIN nuevo para tu cuenta de {app}, con un código enviado a otra dirección de la cuenta. El PIN nuevo sustituirá al tuyo el

    {time}

Si has sido tú, no tienes que hacer nada. Si no, cancela el PIN nuevo antes de ese momento: inicia sesión con tu PIN actual y elige «Cancelar el PIN nuevo» en tu cuenta. Si no puedes iniciar sesión, elige «¿Olvidaste tu PIN?» y después «Cancelar un PIN nuevo», y escribe este código:

    {code}

El código solo sirve para cancelar el PIN nuevo.`,
  },
  'email.registration_unproven': {
    en: `Subject: Recover your account at {app}

Somebody tried to sign up at {app} with this address. An account has the address already, but nobody has confirmed it.

If it was you, choose "Forgot your password?" and enter this address. {app} sends you a code. It makes the account yours, and removes everything that was in it before.

If not, you do not need to do anything. Nothing has changed.`,
    es: `Subject: Recupera tu cuenta de {app}

Alguien ha intentado registrarse en {app} con esta dirección. Ya hay una cuenta con ella, pero nadie la ha confirmado.

Si has sido tú, elige «¿Olvidaste tu contraseña?» y escribe esta dirección. {app} te envía un código. Con él la cuenta es tuya, y se borra todo lo que había antes en ella.

Si no, no tienes que hacer nada. Nada ha cambiado.`,
  },
  'email.registration_taken': {
    en: `Subject: You already have an account at {app}

Somebody tried to sign up at {app} with this address, but it already has an account.

If it was you, sign in instead, or recover your account. If not, you do not need to do anything. Nothing has changed.`,
    es: `Subject: Ya tienes una cuenta en {app}

Alguien ha intentado registrarse en {app} con esta dirección, que ya tiene una cuenta.

Si has sido tú, inicia sesión o recupera tu cuenta. Si no, no tienes que hacer nada. Nada ha cambiado.`,
  },
};
