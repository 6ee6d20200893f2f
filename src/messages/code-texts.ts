import type { MessageChannel } from '../contract/administration.js';
import type { CodeKind } from './kinds.js';
import type { TextLanguage } from './languages.js';

/**
 * The texts of messages with codes. A mail starts with its subject and an empty line, as in an operator's own templates.
 * The code comes early in the text, so that phones offer it above the keyboard.
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
    en: '{code} is your {app} code to recover your account. {app} will never ask you for it.',
    es: '{code} es su código de {app} para recuperar su cuenta.',
  },
  'sms.registration_code': {
    en: '{code} is your {app} code to register. Do not share it with anyone.',
    es: '{code} es su código de {app} para registrarse. No lo comparta.',
  },
  'sms.pin_recovery': {
    en: '{app}: a new PIN replaces yours at {time}. If you did not set it, cancel it in the app with the code {code}.',
    es: '{app}: un PIN nuevo sustituirá al suyo el {time}. Si no lo ha fijado usted, anúlelo en la aplicación con el código {code}.',
  },
  'sms.registration_taken': {
    en: 'Somebody tried to register at {app} with this number, but it already has an account. If it was you, log in instead.',
    es: 'Alguien ha intentado registrarse en {app} con este número, que ya tiene una cuenta. Si ha sido usted, entre en ella.',
  },
  'email.code': {
    en: `Subject: {code} is your {app} code

Your code to log in to {app} is

    {code}

The code is valid for {minutes} minutes. Do not share it with anyone. {app} will never ask you for it.

If you did not try to log in, you do not need to do anything. Nobody can log in without this code.`,
    es: `Subject: {code} es su código de {app}

Su código para entrar en {app} es

    {code}

El código es válido durante {minutes} minutos. No lo comparta con nadie. {app} nunca se lo pedirá.

Si no ha intentado entrar, no tiene que hacer nada. Nadie puede entrar sin este código.`,
  },
  'email.proof_code': {
    en: `Subject: {code} is your {app} code

Your code to change your account at {app} is

    {code}

The code is valid for {minutes} minutes. Do not share it with anyone. {app} will never ask you for it.

If you did not try to change anything, somebody else is logged in to your account. Log out all devices and change your password.`,
    es: `Subject: {code} es su código de {app}

Su código para cambiar su cuenta de {app} es

    {code}

El código es válido durante {minutes} minutos. No lo comparta con nadie. {app} nunca se lo pedirá.

Si no quería cambiar nada, otra persona ha entrado en su cuenta. Cierre todas las sesiones y cambie su contraseña.`,
  },
  'email.address_code': {
    en: `Subject: {code} confirms your address at {app}

Your code to confirm this address for your account at {app} is

    {code}

The code is valid for {minutes} minutes. If you have no account at {app}, somebody entered a wrong address. You can ignore this mail.`,
    es: `Subject: {code} confirma su dirección en {app}

Su código para confirmar esta dirección para su cuenta de {app} es

    {code}

El código es válido durante {minutes} minutos. Si no tiene cuenta en {app}, alguien ha escrito mal una dirección. Puede ignorar este correo.`,
  },
  'email.recovery_code': {
    en: `Subject: {code} is your {app} recovery code

Your code to recover your account at {app} is

    {code}

The code is valid for {minutes} minutes. Do not share it with anyone. {app} will never ask you for it.

If you did not request it, you do not need to do anything. Nobody can recover your account without this code.`,
    es: `Subject: {code} es su código de recuperación de {app}

Su código para recuperar su cuenta de {app} es

    {code}

El código es válido durante {minutes} minutos. No lo comparta con nadie. {app} nunca se lo pedirá.

Si no lo ha pedido, no tiene que hacer nada. Nadie puede recuperar su cuenta sin este código.`,
  },
  'email.registration_code': {
    en: `Subject: {code} is your {app} code

Your code to register at {app} is

    {code}

The code is valid for {minutes} minutes. If you did not want to register, you can ignore this mail.`,
    es: `Subject: {code} es su código de {app}

Su código para registrarse en {app} es

    {code}

El código es válido durante {minutes} minutos. Si no quería registrarse, puede ignorar este correo.`,
  },
  'email.pin_recovery': {
    en: `Subject: A new PIN for your account at {app}

Somebody has set a new PIN for your account at {app}, with a code that was sent to another address of the account. The new PIN replaces yours at

    {time}

If this was you, you do not need to do anything. If not, cancel the new PIN before that time. Log in and cancel it in the app, or enter this code there:

    {code}

The code can only cancel the new PIN.`,
    es: `Subject: Un PIN nuevo para su cuenta de {app}

Alguien ha fijado un PIN nuevo para su cuenta de {app}, con un código enviado a otra dirección de la cuenta. El PIN nuevo sustituirá al suyo el

    {time}

Si ha sido usted, no tiene que hacer nada. Si no, anule el PIN nuevo antes de ese momento. Entre en su cuenta y anúlelo en la aplicación, o introduzca allí este código:

    {code}

El código solo sirve para anular el PIN nuevo.`,
  },
  'email.registration_taken': {
    en: `Subject: You already have an account at {app}

Somebody tried to register at {app} with this address, but it already has an account.

If it was you, log in instead, or recover your password. If not, you do not need to do anything. Nothing has changed.`,
    es: `Subject: Ya tiene una cuenta en {app}

Alguien ha intentado registrarse en {app} con esta dirección, que ya tiene una cuenta.

Si ha sido usted, entre en ella o recupere su contraseña. Si no, no tiene que hacer nada. Nada ha cambiado.`,
  },
};
