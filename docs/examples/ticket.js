// Two steps, and the answer says who it is: a ticket that another service of yours signs for somebody it knows already.
//
//   AUTHENTICATORS=./docs/examples/ticket.js
//   AUTHENTICATOR_TICKET_KEY=<32 random characters or more, which that service has too>
//
// A ticket is `<id of the user>.<HMAC-SHA256 of "<nonce>.<id of the user>", in base64url>`.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** @type {import('postern/authenticator').PluginFactory} */
export default function ticket({ env }) {
  const key = env.AUTHENTICATOR_TICKET_KEY ?? '';
  if (key.length < 32) throw new Error('AUTHENTICATOR_TICKET_KEY needs at least 32 characters');
  return {
    name: 'ticket',
    steps: 2,
    namesUser: true,
    begin() {
      const nonce = randomBytes(24).toString('base64url');
      return { kept: { nonce }, lifetime: 120, shown: { type: 'ticket', nonce } };
    },
    identify({ kept, secret }) {
      const [userId = '', signature = ''] = secret.split('.');
      const expected = createHmac('sha256', key).update(`${kept.nonce}.${userId}`).digest();
      const given = Buffer.from(signature, 'base64url');
      const isRight = given.length === expected.length && timingSafeEqual(given, expected);
      return isRight ? { userId } : undefined;
    },
  };
}
