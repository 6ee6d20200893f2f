import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Passkey } from '../../src/contract/account/factors.js';
import type { StartedProof } from '../../src/contract/account/proof.js';
import { idToBytes } from '../../src/lib/ids.js';
import { byPassword, type Person } from '../support/account.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { addAuthenticator, launchBrowser, servePage, type VirtualAuthenticator } from '../support/browser.js';
import { type Answer, createFactors } from '../support/factors.js';
import { createUser } from '../support/users.js';

/** The requests that docs/second-factors.md lists. */
const code = readFileSync('test/support/passkey-page.js', 'utf8');

/** Types of the functions that this code defines in the page. */
declare function post(path: string, body: object, session?: string): Promise<Answer & { options: { rp: object } }>;
declare function makePasskey(session: string, proof: object, name: string): Promise<Passkey>;
declare function sign(options: object): Promise<string>;
declare function logIn(): Promise<Answer>;
declare function complete(pending: Answer): Promise<Answer>;
declare function prove(session: string): Promise<object>;

let postern: TestApp;
let browser: Browser;
let pages: { port: number; close(): Promise<void> }[];
beforeAll(async () => {
  pages = [await servePage(), await servePage()];
  const [own, foreign] = pages.map(({ port }) => port);
  postern = await startTestApp({
    ...{ PASSKEY_RP_ID: 'localhost', PASSKEY_ORIGINS: `http://localhost:${own},http://app.localhost:${own}` },
    CORS_ORIGINS: `http://localhost:${own},http://app.localhost:${own},http://localhost:${foreign}`,
    LOGIN_LIMIT_PER_ADDRESS: '0',
  });
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await postern?.close();
  for (const page of pages) await page.close();
});

const { person, ask, startWithPassword, startWithPasskey, answer } = createFactors(() => postern);

/** A tab with an authenticator of its own, and the code of the page. */
async function open(
  host = 'localhost',
  pageIndex = 0,
  options = { verifiesUser: true },
): Promise<{ page: Page; authenticator: VirtualAuthenticator }> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`http://${host}:${pages[pageIndex]?.port}/`);
  await page.addScriptTag({ content: code.replace('https://auth.example.com', postern.url) });
  return { page, authenticator: await addAuthenticator(page, options) };
}

/** A person who is signed in, in a tab, with a passkey. */
async function withPasskey(host?: string): Promise<{ who: Person; page: Page; authenticator: VirtualAuthenticator }> {
  const who = await person();
  const tab = await open(host);
  const values = { session: who.bearer, proof: byPassword };
  await tab.page.evaluate(({ session, proof }) => makePasskey(session, proof, 'Laptop'), values);
  return { who, ...tab };
}

/** The assertion that a tab makes for a login, which is then sent by the test. */
async function assertionFor(page: Page) {
  const { body } = await startWithPasskey();
  return { id: body.id, secret: await page.evaluate((options) => sign(options), body.challenge ?? {}) };
}

describe('a browser without the client', () => {
  test('creates a passkey and logs in with it, without a user name', async () => {
    const { who, page } = await withPasskey();
    const { body } = await ask<Passkey[]>(who, 'GET', '/passkeys');
    expect(body).toMatchObject([{ name: 'Laptop', transports: ['internal'], last_used_at: null }]);
    const login = await page.evaluate(() => logIn());
    expect(login).toMatchObject({ status: 'approved', token: expect.stringMatching(/^psa_/) });
    const session = await postern.api<{ user_id: string }>('POST', '/v1/sessions', { basic: login.token ?? '' });
    expect(session.body.user_id).toBe(who.user.id);
  });

  test('creates no second passkey on the same authenticator', async () => {
    const { who, page } = await withPasskey();
    const values = { session: who.bearer, proof: byPassword };
    const again = page.evaluate(({ session, proof }) => makePasskey(session, proof, 'Again'), values);
    await expect(again).rejects.toThrow('InvalidStateError');
  });

  test('completes a login with a password, and re-authenticates', async () => {
    const { who, page } = await withPasskey();
    const change = { bearer: postern.adminKey, body: { second_factor: 'required' } };
    await postern.api('PATCH', `/admin/v1/users/${who.user.id}`, change);
    const { body: pending } = await startWithPassword(who);
    expect(pending.challenge).toMatchObject({ type: 'passkey', allowCredentials: [{ type: 'public-key' }] });
    expect(await page.evaluate((login) => complete(login), pending)).toMatchObject({ status: 'approved' });
    const proof = await page.evaluate((session) => prove(session), who.bearer);
    expect((await ask(who, 'POST', '/recovery-codes', { proof })).status).toBe(201);
    expect((await ask(who, 'POST', '/recovery-codes', { proof })).status).toBe(400);
  });
});

describe('an assertion of a browser', () => {
  test('is valid once', async () => {
    const { page } = await withPasskey();
    const { id, secret } = await assertionFor(page);
    const other = await startWithPasskey();
    expect((await answer(other.body.id, secret)).status).toBe(400);
    expect((await answer(id, secret)).status).toBe(201);
    expect((await answer(id, secret)).status).toBe(400);
  });

  test('is refused with a changed signature', async () => {
    const { page } = await withPasskey();
    const { id, secret } = await assertionFor(page);
    const assertion = JSON.parse(secret) as { response: { signature: string } };
    const signature = Buffer.from(assertion.response.signature, 'base64url');
    signature[signature.length - 1] = (signature.at(-1) ?? 0) ^ 1;
    assertion.response.signature = signature.toString('base64url');
    expect((await answer(id, JSON.stringify(assertion))).status).toBe(400);
    expect((await answer(id, secret)).status).toBe(201);
  });

  test('is refused on an origin that is not configured, even with the same host', async () => {
    const { authenticator } = await withPasskey();
    const [credential] = await authenticator.credentials();
    const foreign = await open('localhost', 1);
    if (credential !== undefined) await foreign.authenticator.replace(credential);
    await expect(foreign.page.evaluate(() => logIn())).rejects.toThrow('authorization_rejected');
    const here = await open();
    if (credential !== undefined)
      await here.authenticator.replace({ ...credential, signCount: credential.signCount + 9 });
    expect(await here.page.evaluate(() => logIn())).toMatchObject({ status: 'approved' });
  });

  test('is refused for another relying party, also at enrolment', async () => {
    const who = await person();
    const { page } = await open('app.localhost');
    // Acts as a page that tries to get a passkey for its own domain.
    await page.evaluate(() => {
      const real = post;
      Object.assign(globalThis, {
        post: async (...request: Parameters<typeof post>) => {
          const answered = await real(...request);
          const rp = { id: 'app.localhost', name: 'Another' };
          return 'options' in answered ? { ...answered, options: { ...answered.options, rp } } : answered;
        },
      });
    });
    const values = { session: who.bearer, proof: byPassword };
    const enrolling = page.evaluate(({ session, proof }) => makePasskey(session, proof, 'Key'), values);
    await expect(enrolling).rejects.toThrow('proof_rejected');
    expect((await ask(who, 'GET', '/passkeys')).body).toEqual([]);
  });

  test('is refused with the handle of another user', async () => {
    const { page, authenticator } = await withPasskey();
    const victim = await createUser(postern);
    const [credential] = await authenticator.credentials();
    if (credential === undefined) throw new Error('there is no credential');
    await authenticator.replace({ ...credential, userHandle: idToBytes(victim.id).toString('base64') });
    await expect(page.evaluate(() => logIn())).rejects.toThrow('authorization_rejected');
  });

  test('is refused when its counter has decreased', async () => {
    const { page, authenticator } = await withPasskey();
    const [copy] = await authenticator.credentials();
    if (copy === undefined) throw new Error('there is no credential');
    for (let use = 1; use <= 2; use += 1)
      expect(await page.evaluate(() => logIn())).toMatchObject({ status: 'approved' });
    await authenticator.replace(copy);
    await expect(page.evaluate(() => logIn())).rejects.toThrow('authorization_rejected');
  });

  test('without user verification is a second factor to a password, and not sufficient alone', async () => {
    const { who, authenticator } = await withPasskey();
    const change = { bearer: postern.adminKey, body: { second_factor: 'required' } };
    await postern.api('PATCH', `/admin/v1/users/${who.user.id}`, change);
    const [credential] = await authenticator.credentials();
    if (credential === undefined) throw new Error('there is no credential');
    const { page, authenticator: key } = await open('localhost', 0, { verifiesUser: false });
    await key.replace({ ...credential, signCount: credential.signCount + 9 });
    const { body: pending } = await startWithPassword(who);
    expect(await page.evaluate((login) => complete(login), pending)).toMatchObject({ status: 'approved' });
    // The browser enforces the requested user verification, but a page can request less.
    await expect(page.evaluate((session) => prove(session), who.bearer)).rejects.toThrow('NotAllowedError');
    const { body: begun } = await ask<StartedProof>(who, 'POST', '/proofs', { type: 'passkey' });
    const less = { ...begun.challenge, userVerification: 'discouraged' };
    const secret = await page.evaluate((options) => sign(options), less);
    const proof = { type: 'passkey', id: begun.id, secret };
    expect((await ask(who, 'POST', '/recovery-codes', { proof })).status).toBe(400);
  });
});
