import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AccountDetails } from '../../../../../src/contract/account/account.js';
import type { StartedProof } from '../../../../../src/contract/account/proof.js';
import type { NewSession } from '../../../../../src/contract/session.js';
import { codeTo, createSelfService, type Person } from '../../../../support/account.js';
import { startTestApp, type TestApp } from '../../../../support/app.js';
import { stepClock } from '../../../../support/clock.js';
import { createFactors } from '../../../../support/factors.js';
import { createRedirectSteps, newVerifier, publicUrl, returnTo } from '../../../../support/redirects.js';
import { testSql } from '../../../../support/sql.js';
import { newEmail, newPhone } from '../../../../support/users.js';
import { startVendor, type Vendor } from '../../../../support/vendor.js';

let vendor: Vendor;
/** A provider without id_tokens. */
let plain: Vendor;
let postern: TestApp;
beforeAll(async () => {
  [vendor, plain] = await Promise.all([startVendor(), startVendor()]);
  const client = { client_id: 'ours', client_secret: 'a secret' };
  postern = await startTestApp({
    ...{ ALLOW_PRIVATE_NETWORK_TARGETS: 'true', LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' },
    ...{ PUBLIC_URL: publicUrl, REDIRECT_URIS: returnTo },
    OIDC_PROVIDERS: JSON.stringify({
      google: { ...client, issuer: vendor.url, sign_up: true },
      github: {
        ...{ ...client, preset: 'github', sign_up: true, authorization_endpoint: `${plain.url}/authorize` },
        ...{ token_endpoint: `${plain.url}/token`, userinfo_endpoint: `${plain.url}/userinfo` },
      },
    }),
  });
});
afterAll(async () => {
  await postern.close();
  await Promise.all([vendor.close(), plain.close()]);
});
beforeEach(() => vendor.reset());

const { ask, refused } = createSelfService(() => postern);
const { enrolTotp } = createFactors(() => postern);
const { open, goThrough, logIn } = createRedirectSteps(() => ({ postern, vendor }));
const atPlain = createRedirectSteps(() => ({ postern, vendor: plain }));
const seconds = () => Math.floor(Date.now() / 1000);

/** A new user who has only an account at the provider. */
async function newcomer(
  steps: { readonly logIn: typeof logIn } = { logIn },
  authenticator = 'oidc:google',
): Promise<Person> {
  const { body } = await steps.logIn(authenticator);
  const session = await postern.api<NewSession>('POST', '/v1/sessions', { basic: body.token ?? '' });
  const path = `/admin/v1/users/${body.user_id}`;
  const { body: user } = await postern.api<Person['user']>('GET', path, { bearer: postern.adminKey });
  return { user, bearer: session.body.token, deviceId: session.body.device_id, authenticationId: body.id };
}

async function prove(who: Person) {
  const { codeVerifier, codeChallenge } = newVerifier();
  const { status, body } = await ask<StartedProof>(who, 'POST', '/proofs', {
    ...{ type: 'provider', provider: 'google', redirect_to: returnTo, code_challenge: codeChallenge },
  });
  expect(status).toBe(201);
  const { app } = await goThrough(String(body.challenge?.url));
  const secret = JSON.stringify({ code: app.get('code'), code_verifier: codeVerifier });
  return { error: app.get('error'), proof: { type: 'provider', id: body.id, secret } };
}

test('a user who has only an account at a provider proves to be present by logging in there again', async () => {
  const who = await newcomer();
  const { body: account } = await ask<AccountDetails>(who, 'GET', '');
  expect(account.proofs.at(-1)).toEqual({
    ...{ type: 'provider', start: 'provider', provider: 'google', destination: null },
    ...{ accepted_for: ['account', 'pin'], reason: null },
  });
  vendor.account = { ...vendor.account, auth_time: seconds() };
  const { proof } = await prove(who);
  const asked = vendor.authorizations.at(-1);
  expect({ prompt: asked?.get('prompt'), maxAge: asked?.get('max_age') }).toEqual({ prompt: 'login', maxAge: '0' });
  const password = 'the moon and back again';
  expect((await ask(who, 'PUT', '/password', { password, proof })).status).toBe(200);
  // It is valid once.
  expect(await refused(who, 'DELETE', '', { proof })).toEqual([400, 'proof_rejected']);
});

test.each<[string, () => object]>([
  ['does not say when', () => ({})],
  ['says that it was before', () => ({ auth_time: seconds() - 3600 })],
  ['says it in a text', () => ({ auth_time: String(seconds()) })],
])('a provider that %s proves nothing', async (_title, more) => {
  const who = await newcomer();
  vendor.account = { ...vendor.account, ...more() };
  const { error, proof } = await prove(who);
  expect(error).toBe('failed');
  expect(await refused(who, 'DELETE', '', { proof })).toEqual([400, 'proof_rejected']);
});

test('another account at the provider proves nothing, also one that another user has linked', async () => {
  await newcomer();
  const ofOther = vendor.account.sub;
  vendor.reset();
  const who = await newcomer();
  for (const sub of [randomUUID(), ofOther]) {
    vendor.account = { sub, auth_time: seconds() };
    const { proof } = await prove(who);
    expect(await refused(who, 'DELETE', '', { proof })).toEqual([400, 'proof_rejected']);
  }
});

test('it belongs to the session and the device that have started it', async () => {
  const who = await newcomer();
  vendor.account = { ...vendor.account, auth_time: seconds() };
  const { proof } = await prove(who);
  const { body } = await logIn();
  const session = await postern.api<NewSession>('POST', '/v1/sessions', { basic: body.token ?? '' });
  const other = { ...who, bearer: session.body.token };
  expect(await refused(other, 'DELETE', '', { proof })).toEqual([400, 'proof_rejected']);
  expect((await ask(who, 'DELETE', '', { proof })).status).toBe(204);
});

test('is good for five minutes, so that the person can fill in a form after it', async () => {
  try {
    for (const [seconds_, answer] of [
      [280, []],
      [310, [400, 'proof_rejected']],
    ] as const) {
      const who = await newcomer();
      vendor.account = { ...vendor.account, auth_time: seconds() };
      const { proof } = await prove(who);
      await stepClock(postern.database, `${seconds_} seconds`);
      const changed = await ask(who, 'PATCH', '', { username: `u-${randomUUID().slice(0, 8)}`, proof });
      expect(changed.status).toBe(answer[0] ?? 200);
      await stepClock(postern.database, '0');
    }
  } finally {
    await stepClock(postern.database, '0');
  }
});

test('is not offered without id_tokens, without a link, and beside a second factor', async () => {
  plain.account = { id: 583231 };
  const byGithub = await newcomer(atPlain, 'oauth:github');
  const types = async (who: Person) =>
    (await ask<AccountDetails>(who, 'GET', '')).body.proofs.map(({ type, reason }) => `${type} ${reason ?? ''}`);
  expect(await types(byGithub)).not.toContain('provider ');
  const { codeChallenge } = newVerifier();
  const request = { type: 'provider', redirect_to: returnTo, code_challenge: codeChallenge };
  for (const provider of ['github', 'google', 'absent']) {
    expect(await refused(byGithub, 'POST', '/proofs', { ...request, provider })).toEqual([422, 'type not_supported']);
  }
  expect(await refused(byGithub, 'POST', '/proofs', request)).toEqual([422, 'provider required']);
  const who = await newcomer();
  const unlisted = { ...request, provider: 'google', redirect_to: 'https://evil.example/' };
  expect((await refused(who, 'POST', '/proofs', unlisted))[0]).toBe(422);
  expect((await open(`${publicUrl}/redirects/${randomUUID()}`, new Map())).status).toBe(410);
  vendor.account = { ...vendor.account, auth_time: seconds() };
  const { proof } = await prove(who);
  await enrolTotp(who, proof);
  expect(await types(who)).toContain('provider second_factor_required');
});

describe('the first address of a user who has only an account at a provider without id_tokens', () => {
  const required = [422, 'proof required'];
  const viaPlain = () => newcomer(atPlain, 'oauth:github');
  const begin = (who: Person, email: string) => ask<{ id: string }>(who, 'POST', '/email', { email });
  const change = (who: Person, body: object) =>
    postern.api('PATCH', `/admin/v1/users/${who.user.id}`, { bearer: postern.adminKey, body });
  const confirm = async (who: Person, email: string, id: string) =>
    (await ask(who, 'POST', `/email/${id}`, { secret: await codeTo(postern, email) })).status;
  let subject = 600_000;
  beforeEach(() => {
    subject += 1;
    plain.account = { id: subject };
  });

  test('is proven by the login, and then codes to it are the proof', async () => {
    const who = await viaPlain();
    const email = newEmail();
    const { status, body } = await begin(who, email);
    expect(status).toBe(201);
    expect(await confirm(who, email, body.id)).toBe(200);
    expect((await ask<AccountDetails>(who, 'GET', '')).body).toMatchObject({ email, email_verified: true });
    // Neither another address nor a phone number follows.
    expect(await refused(who, 'POST', '/email', { email: newEmail() })).toEqual(required);
    expect(await refused(who, 'POST', '/phone', { phone: newPhone() })).toEqual(required);
  });

  test('needs a login of the last ten minutes', async () => {
    try {
      const who = await viaPlain();
      await stepClock(postern.database, '9 minutes');
      expect((await begin(who, newEmail())).status).toBe(201);
      await stepClock(postern.database, '11 minutes');
      expect(await refused(who, 'POST', '/email', { email: newEmail() })).toEqual(required);
      // The login of another user is no proof, and neither is a new login of the user in another session.
      await viaPlain();
      plain.account = { id: subject + 100_000 };
      await viaPlain();
      expect(await refused(who, 'POST', '/email', { email: newEmail() })).toEqual(required);
    } finally {
      await stepClock(postern.database, '0');
    }
  });

  test('is all that the login proves', async () => {
    const who = await viaPlain();
    const { codeChallenge } = newVerifier();
    const redirect = { redirect_to: returnTo, code_challenge: codeChallenge };
    const attempts: readonly [string, string, object][] = [
      ['PUT', '/password', { password: 'the moon and back again' }],
      ['PATCH', '', { username: `u-${randomUUID().slice(0, 8)}` }],
      ['POST', '/passkeys', {}],
      ['POST', '/totp', {}],
      ['POST', '/external-identities/google', redirect],
      ['DELETE', '/email', {}],
      ['DELETE', '', {}],
    ];
    for (const [method, path, body] of attempts) {
      const [status, ...errors] = await refused(who, method, path, body);
      expect({ method, path, status, isRefused: errors.includes('proof required') }).toEqual({
        ...{ method, path, status: 422, isRefused: true },
      });
    }
  });

  test.each<[string, object]>([
    ['a password', { password: 'the moon and back again' }],
    ['a phone number', { phone: newPhone() }],
    ['an address that nobody has proven', { email: newEmail(), email_verified: false }],
  ])('is proven by no login of a user who has %s', async (_title, fields) => {
    const who = await viaPlain();
    expect((await change(who, fields)).status).toBe(200);
    expect(await refused(await viaPlain(), 'POST', '/email', { email: newEmail() })).toEqual(required);
  });

  test('is proven by no later login of a user whom a provider proves to be present', async () => {
    const linked = await viaPlain();
    const path = `/admin/v1/users/${linked.user.id}/external-identities`;
    const body = { provider: 'google', subject: randomUUID() };
    expect((await postern.api('PUT', path, { bearer: postern.adminKey, body })).status).toBe(200);
    const known = await newcomer();
    const earlier = "update users set created_at = created_at - interval '11 minutes' where id = any($1)";
    await postern.database.query(testSql(earlier, [[linked.user.id, known.user.id]]));
    // Each of them logs in again.
    for (const who of [await viaPlain(), await newcomer()]) {
      expect([linked.user.id, known.user.id]).toContain(who.user.id);
      expect(await refused(who, 'POST', '/email', { email: newEmail() })).toEqual(required);
    }
  });

  test('is proven by the login that made the account, also at a provider that can prove more', async () => {
    const who = await newcomer();
    const email = newEmail();
    const { status, body } = await begin(who, email);
    expect(status).toBe(201);
    for (const [method, path, more] of [
      ['PUT', '/password', { password: 'the moon and back again' }],
      ['POST', '/passkeys', {}],
      ['DELETE', '', {}],
    ] as const) {
      expect((await refused(who, method, path, more)).slice(0, 2)).toEqual(required);
    }
    expect(await confirm(who, email, body.id)).toBe(200);
    expect(await refused(who, 'POST', '/phone', { phone: newPhone() })).toEqual(required);
  });

  test('is one, also if changes run in parallel', async () => {
    try {
      const who = await viaPlain();
      const email = newEmail();
      const begun = await Promise.all([begin(who, email), begin(who, email), begin(who, email)]);
      // A user gets one code to a new address in a minute.
      expect(begun.map(({ status }) => status).toSorted()).toEqual([201, 429, 429]);
      const id = begun.find(({ status }) => status === 201)?.body.id ?? '';
      await stepClock(postern.database, '70 seconds');
      const phone = newPhone();
      const started = await ask<{ id: string }>(who, 'POST', '/phone', { phone });
      expect(started.status).toBe(201);
      const secrets = await Promise.all([codeTo(postern, email), codeTo(postern, phone)]);
      const answers = await Promise.all([
        ask(who, 'POST', `/email/${id}`, { secret: secrets[0] }),
        ask(who, 'POST', `/phone/${started.body.id}`, { secret: secrets[1] }),
      ]);
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400]);
      const { body } = await ask<AccountDetails>(who, 'GET', '');
      expect([body.email, body.phone].filter((one) => one !== null)).toHaveLength(1);
    } finally {
      await stepClock(postern.database, '0');
    }
  });
});
