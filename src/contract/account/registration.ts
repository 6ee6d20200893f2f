import { type Static, Type } from 'typebox';
import { pinPattern, Text } from '../common.js';
import { NewUser } from '../user.js';
import { CodeAnswer, ContactAddress, IdentityText } from './code.js';

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
