// One step: the number of a badge, compared with a list that the operator keeps.
//
//   AUTHENTICATORS=./docs/examples/badge.js
//   AUTHENTICATOR_BADGES={"ada":"<SHA-256 of the badge's number, in hex>"}
import { createHash, timingSafeEqual } from 'node:crypto';

/** @param {string} text */
const digest = (text) => createHash('sha256').update(text).digest();

/** @type {import('postern/authenticator').PluginFactory} */
export default function badge({ env }) {
  // Thrown while the service starts, this is shown as a fault of the configuration.
  if (env.AUTHENTICATOR_BADGES === undefined) throw new Error('AUTHENTICATOR_BADGES is missing');
  const badges = new Map(Object.entries(JSON.parse(env.AUTHENTICATOR_BADGES)));
  return {
    name: 'badge',
    steps: 1,
    verify(user, secret) {
      const expected = badges.get(user?.username ?? '');
      // The same work for users without a badge, and for nobody.
      const isRight = timingSafeEqual(digest(secret), Buffer.from(expected ?? '00'.repeat(32), 'hex'));
      return isRight && expected !== undefined;
    },
  };
}
