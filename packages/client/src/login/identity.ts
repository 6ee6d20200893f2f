import { UsageError } from '../errors.js';
import type { IdentityType } from '../wire.js';

export interface Identity<T extends IdentityType = IdentityType> {
  readonly type: T;
  readonly value: string;
}
/**
 * What a user typed. Text with `@` is a mail address. Text of digits, spaces and `()+-./` with at least 5 digits is a phone number.
 * Other text is a username.
 */
export type IdentityInput = string | Identity;

/** @throws UsageError */
export function identityOf(input: IdentityInput | undefined): Identity {
  if (typeof input === 'object' && input !== null) return { type: input.type, value: input.value };
  if (typeof input !== 'string') throw new UsageError('`identity` must be text or an object with `type` and `value`.');
  const value = input.trim();
  if (value.includes('@')) return { type: 'email', value };
  const isPhone = /^[\d\s()+./-]+$/.test(value) && value.replace(/\D/g, '').length >= 5;
  return { type: isPhone ? 'phone' : 'username', value };
}
