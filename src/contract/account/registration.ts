import { type Static, Type } from 'typebox';
import { Authentication, DeviceInput } from '../authentication.js';
import { pinPattern, Text } from '../common.js';
import { NewUser } from '../user.js';
import { Account } from './account.js';
import { CheckedCode, CodeAnswer, ContactAddress, checkMember, IdentityText } from './code.js';

/** Starts a registration. Postern sends a code to this address. */
export const RegistrationRequest = Type.Object(
  { identity: ContactAddress, locale: NewUser.properties.locale },
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

/** The answer to a code: the account, or only that the code is correct. */
export const RegistrationResult = Type.Union([Registered, CheckedCode], { title: 'RegistrationResult' });
