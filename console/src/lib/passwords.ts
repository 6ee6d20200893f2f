const passwordAlphabet = 'abcdefghjkmnpqrstuvwxyz23456789';

/** Random characters without those that look alike, in groups: easy to say on the phone. 20 characters have 99 bits. It is for one login. */
export function randomPassword(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(64)).filter((byte) => byte < passwordAlphabet.length * 8);
  const text = [...bytes.slice(0, 20)].map((byte) => passwordAlphabet[byte % passwordAlphabet.length]).join('');
  return text.replaceAll(/.{5}(?=.)/g, '$&-');
}
