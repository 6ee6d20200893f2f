import { hash } from 'node:crypto';

/** SHA-256 of a text in UTF-8. It is fast, so use it only for secrets that cannot be guessed. */
export function sha256(text: string): Buffer {
  // `hash` allocates its Buffer outside Node's pool, which costs more than the hash itself and this conversion.
  return Buffer.from(sha256Hex(text), 'hex');
}

/** SHA-256 of a text in UTF-8, as 64 hexadecimal digits. */
export function sha256Hex(text: string): string {
  return hash('sha256', text, 'hex');
}

/** SHA-1 of a password in UTF-8, in capitals, to find it in lists of breached passwords. It is too weak for other uses. */
export function sha1UpperHex(password: string): string {
  return hash('sha1', password, 'hex').toUpperCase();
}
