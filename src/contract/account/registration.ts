import { type Static, Type } from 'typebox';
import { Authentication, DeviceInput } from '../authentication.js';
import { AnyObject, HumanCheckToken, pinPattern, Text, Time } from '../common.js';
import { NewUser } from '../user.js';
import { Account } from './account.js';
import { CheckedCode, CodeAnswer, ContactAddress, checkMember, IdentityText } from './code.js';

/** Starts a registration. Postern sends a code to this address. */
export const RegistrationRequest = Type.Object(
  { identity: ContactAddress, locale: NewUser.properties.locale, human_check: HumanCheckToken },
  { title: 'RegistrationRequest', examples: [{ identity: { type: 'phone', value: '+15551234567' }, locale: 'es-MX' }] },
);
export type RegistrationRequest = Static<typeof RegistrationRequest>;

/** Completes a registration: the code, and the data of the new account. */
export const RegistrationAnswer = Type.Object(
  {
    ...CodeAnswer.properties,
    check: checkMember,
    device: Type.Optional({
      ...DeviceInput,
      description: 'The device to log in on. The answer then has `authentication`, with its token.',
    }),
    username: Type.Optional(IdentityText),
    passkey: Type.Optional(
      Type.Union(
        [
          Type.Literal('begin', { title: 'PasskeyBegin' }),
          AnyObject("The browser's RegistrationResponseJSON for the options of `begin`."),
        ],
        {
          title: 'RegistrationPasskey',
          description:
            '`begin` only answers with the options for a new passkey. It counts as a guess, and the code stays valid. Then send the code again, with what the browser has created. An account with a passkey needs no password.',
        },
      ),
    ),
    password: Type.Optional(Text(1024, 1)),
    pin: Type.Optional(Type.String({ pattern: pinPattern })),
    name: NewUser.properties.name,
    locale: NewUser.properties.locale,
  },
  {
    title: 'RegistrationAnswer',
    examples: [{ secret: '271828', username: 'ada', password: 'correct horse battery', name: 'Ada Lovelace' }],
  },
);
export type RegistrationAnswer = Static<typeof RegistrationAnswer>;

/** The new account and, with `device`, its first login. */
const Registered = Type.Object(
  {
    ...Account.properties,
    authentication: Type.Optional({ ...Authentication, description: 'The first login, if the request has `device`.' }),
  },
  { title: 'Registered' },
);

/** The options for the passkey of a new account. */
const PasskeyOptions = Type.Object(
  {
    options: AnyObject('WebAuthn creation options as JSON, for navigator.credentials.create().'),
    expires_at: Type.Unsafe<string>({ ...Time, description: 'When the code expires.' }),
  },
  { title: 'RegistrationPasskeyOptions' },
);
export type PasskeyOptions = Static<typeof PasskeyOptions>;

/** The answer to a code: the account, the options for a passkey, or only that the code is correct. */
export const RegistrationResult = Type.Union([Registered, PasskeyOptions, CheckedCode], {
  title: 'RegistrationResult',
});
