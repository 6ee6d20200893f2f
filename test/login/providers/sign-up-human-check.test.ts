import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { createRedirectSteps, type LoginBody, publicUrl, returnTo } from '../../support/redirects.js';
import { testSql } from '../../support/sql.js';
import { createUser } from '../../support/users.js';
import { startVendor, type Vendor } from '../../support/vendor.js';

let vendor: Vendor;
let postern: TestApp;
beforeAll(async () => {
  vendor = await startVendor();
  postern = await startTestApp({
    ...{ ALLOW_PRIVATE_NETWORK_TARGETS: 'true', PUBLIC_URL: publicUrl, REDIRECT_URIS: returnTo, PIN_POLICY: 'off' },
    ...{ HUMAN_CHECK: 'altcha', MAIL_PROVIDER: 'console', LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0' },
    OIDC_PROVIDERS: JSON.stringify({
      google: { preset: 'google', issuer: vendor.url, client_id: 'ours', client_secret: 'a secret', sign_up: true },
    }),
  });
});
afterAll(async () => {
  await postern.close();
  await vendor.close();
});
beforeEach(() => vendor.reset());

const { begin, goThrough, logIn } = createRedirectSteps(() => ({ postern, vendor }));

interface Challenge {
  readonly algorithm: string;
  readonly challenge: string;
  readonly maxnumber: number;
  readonly salt: string;
  readonly signature: string;
}
type Answer = LoginBody & { readonly human_check?: { readonly challenge: Challenge } };

function solutionOf({ algorithm, challenge, maxnumber, salt, signature }: Challenge): string {
  for (let number = 0; number <= maxnumber; number += 1) {
    if (createHash('sha256').update(`${salt}${number}`).digest('hex') === challenge)
      return Buffer.from(JSON.stringify({ algorithm, challenge, number, salt, signature })).toString('base64');
  }
  throw new Error('there is no solution');
}

/** A login that has come back from the provider. @returns its last request, with or without a solution */
async function returned(email: string) {
  vendor.account = { sub: randomUUID(), email, email_verified: true };
  const login = await begin();
  const { app } = await goThrough(login.url);
  const secret = JSON.stringify({ code: app.get('code'), code_verifier: login.codeVerifier });
  return (human_check?: string) =>
    postern.api<Answer>('POST', `/v1/tokens/${login.body.id}/secret`, {
      body: { secret, ...(human_check !== undefined && { human_check }) },
    });
}
const codes = async (email: string) => {
  const rows = await postern.database.query<{ count: number }>(
    testSql('select count(*)::int as count from outbox where recipient = $1', [email]),
  );
  return rows[0]?.count;
};

test.each(['known', 'unknown'])(
  'a code to an address that is %s needs a solution, and the login goes on with it',
  async (kind) => {
    const email = `${randomUUID()}@example.com`;
    if (kind === 'known') await createUser(postern, { email });
    const answer = await returned(email);
    const refused = await answer();
    expect([refused.status, refused.body.errors[0]?.code]).toEqual([422, 'human_check_required']);
    expect(await codes(email)).toBe(0);
    const challenge = refused.body.human_check?.challenge;
    if (challenge === undefined) throw new Error('no challenge');
    const solution = solutionOf(challenge);
    const accepted = await answer(solution);
    expect({ status: accepted.status, type: accepted.body.challenge?.type }).toEqual({ status: 201, type: 'code' });
    expect(await codes(email)).toBe(1);
    // A solution is for one address, and for one use.
    const other = await returned(`${randomUUID()}@example.com`);
    expect((await other(solution)).status).toBe(422);
  },
);

test('a login that sends no code needs none', async () => {
  vendor.account = { sub: randomUUID(), email: `${randomUUID()}@gmail.com`, email_verified: true };
  const { status, body } = await logIn();
  expect({ status, login: body.status }).toEqual({ status: 201, login: 'approved' });
});
