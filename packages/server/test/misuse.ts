// Calls that must not compile. The type check fails if one of them does.
import {
  createBrowserSession,
  createPosternServer,
  createWebhookVerifier,
  expressSession,
  sessionOf,
  type WebhookEvent,
  withSession,
} from '../src/index.js';

const server = createPosternServer({ url: 'https://auth.example.com', apiKey: 'psk_x' });
const user_id = 'a8502ad9-a2a6-4760-b743-453657117d2f';
const news = { notification_type: 'payment', description: 'Paid' } as const;

// @ts-expect-error the address of Postern is missing
createPosternServer({ apiKey: 'psk_x' });
// @ts-expect-error a misspelled option
createPosternServer({ url: 'https://auth.example.com', apikey: 'psk_x' });

// @ts-expect-error without a key, a repeat publishes twice
server.publish({ user_id, ...news });
// @ts-expect-error one user or several, not both
server.publish({ user_id, user_ids: [user_id], ...news }, { idempotencyKey: 'payment-1' });
// @ts-expect-error no recipient
server.publish(news, { idempotencyKey: 'payment-1' });
// @ts-expect-error a user without an identity
server.users.create({ name: 'Ada' }, { idempotencyKey: 'ada' });
// @ts-expect-error one way to give a password
server.users.create({ username: 'ada', password: 'x', password_hash: 'y' }, { idempotencyKey: 'ada' });
// @ts-expect-error until when, or without an end?
server.users.lock(user_id, { reason: 'fraud' });
// @ts-expect-error no such scope
server.keys.create({ name: 'x', scopes: ['everything'] }, { idempotencyKey: 'x' });

// @ts-expect-error nobody may be calling
server.verify({ headers: new Headers() }).then((session) => session.user_id);
// @ts-expect-error an authentication token is not for the servers of an app
server.verify('psa_x');
// @ts-expect-error a handler answers
withSession(server, (_request, session) => session.user_id);
// @ts-expect-error a session that was verified has no token
sessionOf({}).token;
// @ts-expect-error a misspelled option
expressSession(server, { maxage: 5 });

declare const event: WebhookEvent;
// @ts-expect-error the signature is over the raw body, not over a parsed one
createWebhookVerifier({ secrets: ['whsec_x'] })({ headers: {}, body: { type: 'user.created' } });
// @ts-expect-error a verifier without secrets and keys
createWebhookVerifier({ secrets: [] });
if (event.type === 'login.locked') {
  // @ts-expect-error this event has no email address
  event.data.email;
}
// @ts-expect-error no such event
server.webhooks.create({ url: 'https://app.example.com', events: ['user.renamed'] }, { idempotencyKey: 'hook' });
// @ts-expect-error a path starts at the root of the site
createBrowserSession(server, { basePath: 'auth' });
