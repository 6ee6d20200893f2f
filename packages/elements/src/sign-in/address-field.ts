import type { FieldOptions } from '../base/form.js';
import type { StartTexts } from './texts.js';

/** The field for an address of the types that the service supports. */
export function addressField(words: StartTexts, types: readonly string[], value: string): FieldOptions {
  if (types.length > 1) return { name: 'identity', kind: 'identity', label: words.address, value };
  const isMail = types[0] !== 'phone';
  return { name: 'identity', kind: isMail ? 'email' : 'tel', label: isMail ? words.email : words.phone, value };
}
