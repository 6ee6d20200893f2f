// Two steps: a word by SMS, which Postern sends through its queue and within its limits.
//
//   AUTHENTICATORS=./docs/examples/word.js
//   AUTHENTICATOR_WORD_KEY=<32 random characters or more, the same on every instance>
import { createHmac, randomInt, timingSafeEqual } from 'node:crypto';

const letters = 'BCDFGHJKMNPQRSTVWXZ';

/** @type {import('postern/authenticator').PluginFactory} */
export default function word({ env }) {
  const key = env.AUTHENTICATOR_WORD_KEY ?? '';
  if (key.length < 32) throw new Error('AUTHENTICATOR_WORD_KEY needs at least 32 characters');
  // Bound to its login. A plain digest of eight letters would soon be tried out by who steals the database.
  /** @type {(id: string, code: string) => Buffer} */
  const seal = (id, code) => createHmac('sha256', key).update(`${id}:${code}`).digest();
  return {
    name: 'word',
    steps: 2,
    begin(_user, authenticationId) {
      const code = Array.from({ length: 8 }, () => letters[randomInt(letters.length)]).join('');
      return {
        kept: { seal: seal(authenticationId, code).toString('base64') },
        lifetime: 300,
        // To the user's own number; for nobody it is dropped.
        message: { channel: 'sms', code },
      };
    },
    verify({ kept, authenticationId, secret }) {
      const given = seal(authenticationId, secret.toUpperCase());
      return timingSafeEqual(given, Buffer.from(kept.seal ?? '', 'base64'));
    },
  };
}
