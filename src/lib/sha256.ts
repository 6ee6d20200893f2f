import { hash } from 'node:crypto';

/** SHA-256 of a text in UTF-8. For what cannot be guessed: it is quick. */
export function sha256(text: string): Buffer {
  // By way of text: a Buffer that `hash` makes is not from Node's pool, and costs more than the hash.
  return Buffer.from(sha256Hex(text), 'hex');
}

/** The same as 64 hexadecimal digits. */
export function sha256Hex(text: string): string {
  return hash('sha256', text, 'hex');
}
