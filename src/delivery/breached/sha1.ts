import { hash } from 'node:crypto';

/** How lists of breached passwords name one: SHA-1 of its UTF-8, in capitals. It protects nothing here, it is an index. */
export function sha1Of(password: string): string {
  return hash('sha1', password, 'hex').toUpperCase();
}
