import { UsageError } from '../errors.js';
import type { IdentityType } from '../wire.js';

/**
 * Marks that nobody sees, as they are copied with a text. Not the right-to-left override, which shows the text after it backwards.
 * As ranges, because some versions of React Native know no `\p`.
 */
const invisible = /[\u00ad\u061c\u200b-\u200f\u202a-\u202d\u2060-\u2069]/g;

export interface Identity<T extends IdentityType = IdentityType> {
  readonly type: T;
  readonly value: string;
}
/**
 * What a user typed or pasted, also with spaces around it and invisible marks. Text with `@` is a mail address. Text of digits, spaces,
 * dashes and `()+./` with at least 5 digits is a phone number. Other text is a username.
 */
export type IdentityInput = string | Identity;

/** @throws UsageError */
export function identityOf(input: IdentityInput | undefined): Identity {
  if (typeof input === 'object' && input !== null) return { type: input.type, value: input.value };
  if (typeof input !== 'string') throw new UsageError('`identity` must be text or an object with `type` and `value`.');
  const value = input.replace(invisible, '').trim();
  if (value.includes('@')) return { type: 'email', value };
  const isPhone = /^[\d\s()+./\u2010-\u2015-]+$/.test(value) && value.replace(/\D/g, '').length >= 5;
  return { type: isPhone ? 'phone' : 'username', value };
}
