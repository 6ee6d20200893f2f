import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import {
  type BadRequests,
  createBadRequests,
  expectRefusal,
  type Known,
  noLimits,
  type Route,
} from '../../support/bad-requests.js';
import { password } from '../../support/users.js';

let postern: TestApp;
let bad: BadRequests;
let known: Known;
beforeAll(async () => {
  postern = await startTestApp({ ...noLimits, REGISTRATION: 'on' });
  bad = createBadRequests(postern);
  known = await bad.createKnown();
});
afterAll(() => postern.close());

const proof = { type: 'password', secret: password };
const route = (method: string, path: string, who: keyof Known = 'session'): Route => [who, method, `/v1${path}`];
const id = '{authentication}';
const routes = {
  change: route('PATCH', '/account'),
  remove: route('DELETE', '/account'),
  proofs: route('POST', '/account/proofs'),
  password: route('PUT', '/account/password'),
  pin: route('PUT', '/account/pin'),
  removePin: route('DELETE', '/account/pin'),
  email: route('POST', '/account/email'),
  phone: route('POST', '/account/phone'),
  removeEmail: route('DELETE', '/account/email'),
  confirm: route('POST', `/account/phone/${id}`),
  recovery: route('POST', '/recoveries', 'nobody'),
  completeRecovery: route('POST', `/recoveries/${id}`, 'nobody'),
  registration: route('POST', '/registrations', 'nobody'),
  completeRegistration: route('POST', `/registrations/${id}`, 'nobody'),
};
const identity = { type: 'phone', value: '+15551234567' };
/** Texts that are no identity: with invisible or similar characters, too long, or empty. */
const invalidIdentities = ['a\u202eb', 'a\u200bb', '\u0430da@example.com', 'x'.repeat(321), ''];

/** Values of a wrong kind. */
const wrongs = [[], {}, 7, null, true, ['x']];
/** Proofs with a wrong value, and the field of the error. */
const wrongProofs = [
  ...[[], 'x', 7, null].map((wrong) => [wrong, 'proof'] as const),
  ...wrongs.map((wrong) => [{ ...proof, type: wrong }, 'proof.type'] as const),
  ...wrongs.map((wrong) => [{ ...proof, secret: wrong }, 'proof.secret'] as const),
  ...[...wrongs, 'x', '582a5abb'].map((wrong) => [{ ...proof, id: wrong }, 'proof.id'] as const),
  [{ ...proof, secret: '' }, 'proof.secret'] as const,
  [{ ...proof, secret: 'x'.repeat(16_385) }, 'proof.secret'] as const,
];

const rows: readonly (readonly [Route, object, string])[] = [
  ...(['remove', 'removePin', 'removeEmail'] as const).flatMap((name) =>
    wrongProofs.map(([wrong, field]) => [routes[name], { proof: wrong }, field] as const),
  ),
  ...wrongProofs.flatMap(
    ([wrong, field]) =>
      [
        [routes.change, { username: 'x', proof: wrong }, field],
        [routes.password, { password: 'nine dull horses', proof: wrong }, field],
        [routes.pin, { pin: '2468', proof: wrong }, field],
        [routes.phone, { phone: identity.value, proof: wrong }, field],
      ] as const,
  ),
  ...wrongs.flatMap(
    (wrong) =>
      [
        [routes.change, { name: wrong }, 'name'],
        [routes.proofs, { type: wrong }, 'type'],
        [routes.password, { password: wrong, proof }, 'password'],
        [routes.pin, { pin: wrong, proof }, 'pin'],
        [routes.email, { email: wrong, proof }, 'email'],
        [routes.phone, { phone: wrong, proof }, 'phone'],
        [routes.confirm, { secret: wrong }, 'secret'],
        [routes.recovery, { identity: { ...identity, value: wrong }, purpose: 'pin' }, 'identity.value'],
        [routes.recovery, { identity: { ...identity, type: wrong }, purpose: 'pin' }, 'identity.type'],
        [routes.recovery, { identity, purpose: wrong }, 'purpose'],
        [routes.completeRecovery, { secret: wrong, pin: '2468' }, 'secret'],
        [routes.completeRecovery, { secret: '1', pin: wrong }, 'pin'],
        [routes.completeRecovery, { secret: '1', password: wrong }, 'password'],
        [routes.registration, { identity: { ...identity, value: wrong } }, 'identity.value'],
        [routes.completeRegistration, { secret: '1', username: wrong }, 'username'],
        [routes.completeRegistration, { secret: '1', password: wrong }, 'password'],
        [routes.completeRegistration, { secret: '1', pin: wrong }, 'pin'],
      ] as const,
  ),
  ...invalidIdentities.flatMap(
    (wrong) =>
      [
        [routes.change, { username: wrong, proof }, 'username'],
        [routes.email, { email: wrong, proof }, 'email'],
        [routes.phone, { phone: wrong, proof }, 'phone'],
        [routes.recovery, { identity: { type: 'email', value: wrong }, purpose: 'password' }, 'identity.value'],
        [routes.registration, { identity: { type: 'email', value: wrong } }, 'identity.value'],
        [routes.completeRegistration, { secret: '1', username: wrong }, 'username'],
      ] as const,
  ),
  ...['1', '1'.repeat(13), '12 4', '١٢٣٤', '-123'].flatMap(
    (pin) =>
      [
        [routes.pin, { pin, proof }, 'pin'],
        [routes.completeRecovery, { secret: '1', pin }, 'pin'],
        [routes.completeRegistration, { secret: '1', pin }, 'pin'],
      ] as const,
  ),
  ...['short', 'x'.repeat(1025), 'password', 'aaaaaaaaaaaa'].flatMap(
    (wrong) =>
      [
        [routes.password, { password: wrong, proof }, 'password'],
        [routes.completeRecovery, { secret: '1', password: wrong }, 'password'],
        [routes.completeRegistration, { secret: '1', password: wrong }, 'password'],
      ] as const,
  ),
  [routes.change, { locale: '../../etc' }, 'locale'],
  [routes.confirm, { secret: '1'.repeat(65) }, 'secret'],
];

test('a value of the wrong kind gets 422 with its field, and changes nothing', async () => {
  await bad.expectNoChange(async () => {
    for (const [target, body, field] of rows) {
      const answer = await bad.ask(known, target, {
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
      const what = `${target.join(' ')} ${JSON.stringify(body).slice(0, 120)}: ${answer.text}`;
      expect([answer.status, what]).toEqual([422, what]);
      const fields = (JSON.parse(answer.text) as { errors: { field?: string }[] }).errors.map((error) => error.field);
      expect([fields.includes(field), what]).toEqual([true, what]);
    }
  });
  expect(bad.internalErrors()).toEqual([]);
});

test.each(Object.entries(routes))('%s without a body gets 422', async (_, target) => {
  expectRefusal(await bad.expectNoChange(() => bad.ask(known, target, {})), 422);
});

test('unknown members are ignored at every depth', async () => {
  const body = JSON.stringify({ name: 'Ada', __proto__: { role: 'operator' }, constructor: 1, epoch: 7, id: 'x' });
  const answer = await bad.ask(known, routes.change, { headers: { 'Content-Type': 'application/json' }, body });
  expect(answer.status).toBe(200);
  expect(JSON.parse(answer.text)).toMatchObject({ id: known.user, name: 'Ada' });
});
