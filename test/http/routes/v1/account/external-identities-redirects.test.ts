import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ExternalIdentity } from '../../../../../src/contract/external-identity.js';
import type { NewSession } from '../../../../../src/contract/session.js';
import { byPassword, createSelfService, type Person } from '../../../../support/account.js';
import { startTestApp, type TestApp } from '../../../../support/app.js';
import { createRedirectSteps, type Jar, newVerifier, publicUrl, returnTo } from '../../../../support/redirects.js';
import { createUser, passwordLogin } from '../../../../support/users.js';
import { startVendor, type Vendor } from '../../../../support/vendor.js';

let vendor: Vendor;
let postern: TestApp;
beforeAll(async () => {
  vendor = await startVendor();
  const client = { client_id: 'ours', client_secret: 'a secret' };
  postern = await startTestApp({
    ...{ ALLOW_PRIVATE_NETWORK_TARGETS: 'true', LOGIN_LIMIT_PER_ADDRESS: '0' },
    ...{ PUBLIC_URL: publicUrl, REDIRECT_URIS: returnTo, PIN_POLICY: 'off' },
    OIDC_PROVIDERS: JSON.stringify({
      google: { ...client, issuer: vendor.url },
      other: { ...client, issuer: vendor.url },
      github: {
        ...{ ...client, preset: 'github', authorization_endpoint: `${vendor.url}/authorize` },
        ...{ token_endpoint: `${vendor.url}/token`, userinfo_endpoint: `${vendor.url}/userinfo` },
      },
      bare: { issuer: vendor.url, client_ids: ['ours'] },
    }),
  });
});
afterAll(async () => {
  await postern.close();
  await vendor.close();
});
beforeEach(() => vendor.reset());

const { person, ask, refused, signInAgain } = createSelfService(() => postern);
const { begin: beginLogin, end: endLogin, goThrough, logIn } = createRedirectSteps(() => ({ postern, vendor }));
const path = '/external-identities';

interface Begun {
  readonly id: string;
  readonly expires_at: string;
  readonly challenge: { readonly url: string };
}

const requestOf = (codeChallenge: string, more: object = {}) => ({
  ...{ proof: byPassword, redirect_to: returnTo, code_challenge: codeChallenge, ...more },
});

async function begin(who: Person, provider = 'google') {
  const { codeVerifier, codeChallenge } = newVerifier();
  const { status, body } = await ask<Begun>(who, 'POST', `${path}/${provider}`, requestOf(codeChallenge));
  expect(status).toBe(201);
  return { ...body, url: body.challenge.url, codeVerifier };
}

/** Goes to the provider and back. @returns the body of the request that completes the link */
async function answerOf(started: Awaited<ReturnType<typeof begin>>, jar?: Jar) {
  const { app } = await goThrough(started.url, jar);
  expect(app.get('authentication_id')).toBe(started.id);
  return { secret: JSON.stringify({ code: app.get('code'), code_verifier: started.codeVerifier }) };
}

const confirm = (who: Person, started: { readonly id: string }, body: object, provider = 'google') =>
  ask<ExternalIdentity>(who, 'POST', `${path}/${provider}/${started.id}`, body);
const linksOf = async (who: Person) => (await ask<ExternalIdentity[]>(who, 'GET', path)).body;

describe('linking an account by redirect', () => {
  test.each([
    ['google', 'oidc:google', { sub: '1' }],
    ['github', 'oauth:github', { id: 2 }],
  ])(
    'at %s needs a proof and the way through the provider, and then allows logins',
    async (provider, name, account) => {
      vendor.account = account;
      const who = await person();
      const started = await begin(who, provider);
      expect(started.challenge).toEqual({
        ...{ type: 'redirect', url: `${publicUrl}/redirects/${started.id}`, expires_at: started.expires_at },
      });
      const { status, body } = await confirm(who, started, await answerOf(started), provider);
      expect({ status, provider: body.provider }).toEqual({ status: 200, provider });
      expect(await linksOf(who)).toEqual([body]);
      expect((await logIn(name)).body.user_id).toBe(who.user.id);
    },
  );

  test('is refused without a proof, and with an address that is not listed', async () => {
    const who = await person();
    const { codeChallenge } = newVerifier();
    const at = `${path}/google`;
    expect(await refused(who, 'POST', at, requestOf(codeChallenge, { proof: undefined }))).toEqual([
      ...[422, 'proof required'],
    ]);
    const wrong = { proof: { type: 'password', secret: 'wrong' } };
    expect(await refused(who, 'POST', at, requestOf(codeChallenge, wrong))).toEqual([400, 'proof_rejected']);
    const elsewhere = { redirect_to: 'https://evil.example/callback' };
    expect(await refused(who, 'POST', at, requestOf(codeChallenge, elsewhere))).toEqual([
      ...[422, 'redirect_to redirect_not_allowed'],
    ]);
    expect(await refused(who, 'POST', at, { proof: byPassword, redirect_to: returnTo })).toEqual([
      ...[422, 'code_challenge required'],
    ]);
    expect(await refused(who, 'POST', `${path}/github`, { proof: byPassword })).toEqual([
      ...[422, 'redirect_to required', 'code_challenge required'],
    ]);
    expect(await refused(who, 'POST', `${path}/bare`, requestOf(codeChallenge))).toEqual([
      422,
      'name no_redirect_client',
    ]);
    expect(await refused(who, 'POST', `${path}/nobody`, requestOf(codeChallenge))).toEqual([404, 'not_found']);
  });

  test('works once, and not while another user is signed in, on another device or at another provider', async () => {
    const who = await person();
    const started = await begin(who);
    const answer = await answerOf(started);
    // The browser belongs to another user now. The device is the same.
    const user = await createUser(postern);
    const login = await postern.api<{ token: string }>('POST', '/v1/tokens', {
      body: passwordLogin(user.username, undefined, { id: who.deviceId }),
    });
    const session = await postern.api<NewSession>('POST', '/v1/sessions', { basic: login.body.token });
    const switched = { ...who, user, bearer: session.body.token };
    for (const [by, provider] of [
      [switched, 'google'],
      [await signInAgain(who.user), 'google'],
      [who, 'other'],
    ] as const) {
      const late = await confirm(by, started, answer, provider);
      expect(late.status).toBe(400);
    }
    expect([await linksOf(who), await linksOf(switched)]).toEqual([[], []]);
    const answers = await Promise.all([1, 2, 3].map(() => confirm(who, started, answer)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
    expect(await linksOf(who)).toHaveLength(1);
  });

  test('needs a session of the user at the end, too', async () => {
    const who = await person();
    const started = await begin(who);
    const answer = await answerOf(started);
    const logout = `/admin/v1/users/${who.user.id}/logout`;
    expect((await postern.api('POST', logout, { bearer: postern.adminKey })).status).toBeLessThan(300);
    expect((await confirm(who, started, answer)).status).toBe(401);
    expect((await logIn()).body.authentication.error_code).toBe('not_linked');
  });

  test('needs the code and the verifier of this link: the third wrong answer ends it', async () => {
    const who = await person();
    const [one, two] = [await begin(who), await begin(who)];
    const [answer, other] = [await answerOf(one), await answerOf(two)];
    const { code } = JSON.parse(answer.secret) as { code: string };
    const wrong = [
      other,
      { secret: JSON.stringify({ code, code_verifier: newVerifier().codeVerifier }) },
      { secret: JSON.stringify({ code: randomBytes(24).toString('base64url'), code_verifier: one.codeVerifier }) },
    ];
    for (const body of wrong) expect((await confirm(who, one, body)).status).toBe(400);
    expect((await confirm(who, one, answer)).status).toBe(400);
    expect((await confirm(who, two, other)).status).toBe(200);
  });

  test('and a login take no answers of each other', async () => {
    const who = await person();
    const started = await begin(who);
    const answer = await answerOf(started);
    expect((await endLogin(started.id, '', started.codeVerifier)).status).toBe(400);
    const login = await beginLogin();
    const { app } = await goThrough(login.url);
    const ofLogin = { secret: JSON.stringify({ code: app.get('code'), code_verifier: login.codeVerifier }) };
    expect((await confirm(who, login.body, ofLogin)).status).toBe(400);
    const { code } = JSON.parse(answer.secret) as { code: string };
    expect((await endLogin(started.id, code, started.codeVerifier)).status).toBe(400);
    expect((await confirm(who, started, answer)).status).toBe(200);
  });

  test("does not take over another user's account, and reports the conflict only after the right answer", async () => {
    const [who, other] = [await person(), await person()];
    vendor.account = { sub: randomUUID() };
    const started = await begin(who);
    expect((await confirm(who, started, await answerOf(started))).status).toBe(200);
    const second = await begin(other);
    expect((await confirm(other, second, await answerOf(second))).status).toBe(409);
    expect(await linksOf(other)).toEqual([]);
  });
});
