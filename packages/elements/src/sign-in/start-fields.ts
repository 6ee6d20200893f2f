import type { FieldOptions } from '../base/form.js';
import { type Context, pinField } from './views.js';

/** Text that can be a mail address, or a phone number. */
const addressForms = { email: /^[^\s@]+@[^\s@]+\.[^\s@]+$/, sms: /^\+?[\d\s()./-]{5,}$/ } as const;

/** Whether an authenticator sends codes, and `text` looks like an address for it. */
export const isAddressFor = (authenticator: string, text: string): authenticator is keyof typeof addressForms =>
  (authenticator === 'email' || authenticator === 'sms') &&
  addressForms[authenticator].test(text.replace(/[\u00ad\u061c\u200b-\u200f\u202a-\u202d\u2060-\u2069]/g, '').trim());

/** The label of a field that takes identities of these types. */
function identityLabel(types: readonly string[], { words }: Pick<Context, 'words'>): string {
  if (types.length === 2 && !types.includes('username')) return words.address;
  if (types.length === 2 && !types.includes('phone')) return words.email_or_username;
  if (types.length > 1) return words.identity;
  return { email: words.email, phone: words.phone }[types[0] ?? ''] ?? words.username;
}

/** The label of what the user has typed as an identity. */
export const labelOf = (identity: string, context: Pick<Context, 'words'>): string =>
  identityLabel([identity.includes('@') ? 'email' : isAddressFor('sms', identity) ? 'phone' : 'username'], context);

const optionOf = (authenticator: string, { offered }: Context) =>
  offered.logins.find((option) => option.authenticator === authenticator);

/** The page of the password. The identity is hidden in it, for password managers. */
export const passwordFields = (context: Context): FieldOptions[] => [
  {
    name: 'identity',
    kind: 'identity',
    isHidden: true,
    label: identityLabel(context.identityTypes, context),
    value: context.input.identity,
  },
  { name: 'password', kind: 'password', label: context.words.password },
  ...pinField(context, optionOf('password', context), 1),
];

/** The first page of an authenticator: who the user is, and what one with a single step needs beside it. */
export function identityFields(authenticator: string, context: Context): FieldOptions[] {
  const { words, authenticators, input } = context;
  const { identity } = input;
  const field = {
    name: 'identity',
    autocomplete: authenticators.includes('passkey') ? 'webauthn' : undefined,
  } as const;
  if (authenticator === 'sms') {
    return [{ ...field, kind: 'tel', label: words.phone, value: identity.includes('@') ? '' : identity }];
  }
  if (authenticator === 'email') {
    return [{ ...field, kind: 'email', label: words.email, value: identity.includes('@') ? identity : '' }];
  }
  const option = optionOf(authenticator, context);
  const types =
    authenticator === 'password' ? context.identityTypes : (option?.identity_types ?? context.identityTypes);
  const result: FieldOptions[] =
    option?.identity_types.length === 0
      ? []
      : [{ ...field, kind: 'identity', label: identityLabel(types, context), value: identity }];
  // If a code is sent, the next step asks for the PIN.
  if (authenticator !== 'password' && option?.steps === 1) {
    result.push({ name: 'secret', kind: 'text', label: words.secret }, ...pinField(context, option, 1));
  }
  return result;
}
