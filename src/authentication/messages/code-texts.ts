import type { MessageChannel } from '../../contract/administration.js';
import type { CodeKind } from './kinds.js';
import type { TextLanguage } from './languages.js';

/**
 * What codes say. A mail begins with its subject, then comes an empty line, as in an operator's own templates.
 * Codes come early: phones show them above the keyboard.
 */
export const codeTexts: Readonly<Record<`${MessageChannel}.${CodeKind}`, Readonly<Record<TextLanguage, string>>>> = {
  'sms.code': {
    en: 'Your {app} code is {code}. Do not share it with anyone.',
    es: 'Su código de {app} es {code}. No lo comparta con nadie.',
  },
  'sms.proof_code': {
    en: '{code} is your {app} code to change your account. Do not share it with anyone.',
    es: '{code} es su código de {app} para cambiar su cuenta. No lo comparta.',
  },
  'sms.address_code': {
    en: '{code} is your {app} code to confirm this number. Do not share it with anyone.',
    es: '{code} es su código de {app} para confirmar este número.',
  },
  'sms.recovery_code': {
    en: '{code} is your {app} code to recover your account. Nobody of {app} will ask you for it.',
    es: '{code} es su código de {app} para recuperar su cuenta.',
  },
  'sms.registration_code': {
    en: '{code} is your {app} code to register. Do not share it with anyone.',
    es: '{code} es su código de {app} para registrarse. No lo comparta.',
  },
  'sms.pin_recovery': {
    en: '{app}: a new PIN was set and replaces yours at {time}. If it was not you, cancel it in the app with the code {code}.',
    es: '{app}: se ha fijado un PIN nuevo, que sustituye al suyo a las {time}. Si no ha sido usted, anúlelo en la aplicación con el código {code}.',
  },
  'sms.registration_taken': {
    en: 'Somebody tried to register at {app} with this number, which has an account already. If it was you: log in instead.',
    es: 'Alguien ha intentado registrarse en {app} con este número, que ya tiene una cuenta. Si ha sido usted, entre en ella.',
  },
  'email.code': {
    en: `Subject: {code} is your {app} code

Your code to log in to {app} is

    {code}

It is good for {minutes} minutes. Do not share it with anyone: nobody of {app} will ask you for it.

If you did not try to log in, you need not do anything. Without this code nobody gets in.`,
    es: `Subject: {code} es su código de {app}

Su código para entrar en {app} es

    {code}

Vale durante {minutes} minutos. No lo comparta con nadie: nadie de {app} se lo pedirá.

Si no ha intentado entrar, no tiene que hacer nada. Sin este código nadie entra.`,
  },
  'email.proof_code': {
    en: `Subject: {code} is your {app} code

Your code to change your account at {app} is

    {code}

It is good for {minutes} minutes. Do not share it with anyone: nobody of {app} will ask you for it.

If you did not want to change anything, somebody else is logged in as you: log out everywhere and change your password.`,
    es: `Subject: {code} es su código de {app}

Su código para cambiar su cuenta de {app} es

    {code}

Vale durante {minutes} minutos. No lo comparta con nadie: nadie de {app} se lo pedirá.

Si no quería cambiar nada, otra persona ha entrado en su cuenta: cierre todas las sesiones y cambie su contraseña.`,
  },
  'email.address_code': {
    en: `Subject: {code} confirms your address at {app}

Your code to confirm this address for your account at {app} is

    {code}

It is good for {minutes} minutes. If you have no account at {app}, somebody has mistyped an address: ignore this mail.`,
    es: `Subject: {code} confirma su dirección en {app}

Su código para confirmar esta dirección para su cuenta de {app} es

    {code}

Vale durante {minutes} minutos. Si no tiene cuenta en {app}, alguien ha escrito mal una dirección: ignore este correo.`,
  },
  'email.recovery_code': {
    en: `Subject: {code} is your {app} recovery code

Your code to recover your account at {app} is

    {code}

It is good for {minutes} minutes. Do not share it with anyone: nobody of {app} will ask you for it.

If you did not ask for it, you need not do anything. Without this code nobody gets in.`,
    es: `Subject: {code} es su código de recuperación de {app}

Su código para recuperar su cuenta de {app} es

    {code}

Vale durante {minutes} minutos. No lo comparta con nadie: nadie de {app} se lo pedirá.

Si no lo ha pedido, no tiene que hacer nada. Sin este código nadie entra.`,
  },
  'email.registration_code': {
    en: `Subject: {code} is your {app} code

Your code to register at {app} is

    {code}

It is good for {minutes} minutes. If you did not want to register, ignore this mail.`,
    es: `Subject: {code} es su código de {app}

Su código para registrarse en {app} es

    {code}

Vale durante {minutes} minutos. Si no quería registrarse, ignore este correo.`,
  },
  'email.pin_recovery': {
    en: `Subject: A new PIN for your account at {app}

Somebody has set a new PIN for your account at {app}, with a code to another address of the account. It replaces your PIN at

    {time}

If this was you, you need not do anything. If not, cancel it before then: log in and cancel it in the app, or enter this code there:

    {code}

The code does nothing else.`,
    es: `Subject: Un PIN nuevo para su cuenta de {app}

Alguien ha fijado un PIN nuevo para su cuenta de {app}, con un código a otra dirección de la cuenta. Sustituirá a su PIN el

    {time}

Si ha sido usted, no tiene que hacer nada. Si no, anúlelo antes: entre en su cuenta y anúlelo en la aplicación, o introduzca allí este código:

    {code}

El código no sirve para nada más.`,
  },
  'email.registration_taken': {
    en: `Subject: You have an account at {app} already

Somebody tried to register at {app} with this address, which has an account already.

If it was you: log in instead, or recover your password. If not, you need not do anything: nothing has changed.`,
    es: `Subject: Ya tiene una cuenta en {app}

Alguien ha intentado registrarse en {app} con esta dirección, que ya tiene una cuenta.

Si ha sido usted, entre en ella o recupere su contraseña. Si no, no tiene que hacer nada: nada ha cambiado.`,
  },
};
