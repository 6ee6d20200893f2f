import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { eventually } from '../../../../test/support/eventually.js';
import { createRedirectBrowser } from '../../../../test/support/redirect-browser.js';
import { testSql } from '../../../../test/support/sql.js';
import { createUser, newEmail, password } from '../../../../test/support/users.js';
import { startVendor, type Vendor } from '../../../../test/support/vendor.js';
import {
  createAccount,
  createLogin,
  createPostern,
  type Login,
  type LoginState,
  memoryStorage,
  type PosternStorage,
  type Proof,
  type ProofChoice,
  type ProofRequest,
  passwordProof,
} from '../../src/index.js';
import { bytesOf, sha256 } from '../../src/sha256.js';
import { clientOf, createNetwork, lost, signedIn } from '../support.js';

const publicUrl = 'http://127.0.0.1:9';
const page = 'https://app.example.com/callback';

let vendor: Vendor;
let app: TestApp;
beforeAll(async () => {
  vendor = await startVendor();
  const client = { client_id: 'ours', client_secret: 'a secret', issuer: vendor.url };
  app = await startTestApp({
    ALLOW_PRIVATE_NETWORK_TARGETS: 'true',
    LOGIN_LIMIT_PER_ADDRESS: '0',
    PUBLIC_URL: publicUrl,
    PIN_POLICY: 'off',
    MAIL_PROVIDER: 'console',
    REDIRECT_URIS: `${page},com.example.app:/callback`,
    OIDC_PROVIDERS: JSON.stringify({
      google: { ...client, preset: 'google', sign_up: true },
      closed: client,
    }),
  });
});
afterAll(async () => {
  await app.close();
  await vendor.close();
});
beforeEach(() => {
  Object.assign(vendor, { account: { sub: randomUUID() }, onToken: undefined, denial: undefined, metadata: {} });
});
afterEach(() => vi.unstubAllGlobals());

/** The state of a step. */
function inStep<S extends LoginState['step']>(state: LoginState, step: S) {
  expect(state).toMatchObject({ step });
  return state as Extract<LoginState, { readonly step: S }>;
}

/** Makes this process a page. */
function stubPage(href: string) {
  const values = new Map<string, string>();
  const left: string[] = [];
  const listeners = new Map<string, (event: { readonly persisted: boolean }) => void>();
  const location = { href, origin: new URL(href).origin, assign: (url: string) => void left.push(url) };
  vi.stubGlobal('location', location);
  vi.stubGlobal('history', {
    state: 'kept',
    replaceState(state: unknown, _unused: string, url: string) {
      expect(state).toBe('kept');
      location.href = url;
    },
  });
  vi.stubGlobal('sessionStorage', {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
  });
  vi.stubGlobal('addEventListener', (type: string, listener: (event: { readonly persisted: boolean }) => void) =>
    listeners.set(type, listener),
  );
  vi.stubGlobal('removeEventListener', (type: string) => listeners.delete(type));
  return { location, left, values, comeBack: () => listeners.get('pageshow')?.({ persisted: true }) };
}

const browser = () => createRedirectBrowser(vendor, { publicUrl, url: app.url });
/** A login in a page that goes to the provider. @returns where the browser comes back */
async function leave(login: Login, shown: ReturnType<typeof stubPage>, authenticator: 'oidc:google' | 'oidc:closed') {
  inStep(await login.redirect(authenticator), 'redirect');
  return browser().goThrough(shown.left.at(-1) ?? '');
}
const gmail = (email = `${randomUUID()}@gmail.com`) => {
  vendor.account = { sub: randomUUID(), email, email_verified: true, name: 'Ada' };
  return email;
};
const mailedCode = (email: string) =>
  eventually('the mail', async () => {
    const mails = app.printed.filter((line) => line.includes(email));
    return /\b(\d{6})\b/.exec(mails.at(-1) ?? '')?.[1];
  });

describe('in a page', () => {
  test.each<[string, () => PosternStorage]>([
    ['a storage in memory, which the page loses', memoryStorage],
    [
      'a storage that stays',
      (() => {
        const storage = memoryStorage();
        return () => storage;
      })(),
    ],
  ])('goes to the provider and signs in at its return, with %s', async (_title, storage) => {
    gmail();
    const shown = stubPage(`${page}?tab=1#part`);
    const back = await leave(createLogin(clientOf(app, { storage: storage() })), shown, 'oidc:google');
    expect(back.startsWith(`${page}?authentication_id=`)).toBe(true);
    shown.location.href = `${back}#part`;
    const postern = clientOf(app, { storage: storage() });
    const done = inStep(await createLogin(postern).resumeRedirect(), 'done');
    expect(postern.current).toMatchObject({ status: 'signed_in', user_id: done.user_id });
    expect(shown.location.href).toBe(`${page}#part`);
    expect(shown.values.size).toBe(0);
  });

  test('ignores an answer that this browser did not ask for, and removes it from the address', async () => {
    gmail();
    const attacker = stubPage(page);
    const back = await leave(createLogin(clientOf(app)), attacker, 'oidc:google');
    const victim = stubPage(`${back}&own=1`);
    const network = createNetwork();
    const login = createLogin(clientOf(app, { fetch: network.fetch }));
    expect(inStep(await login.resumeRedirect(), 'start').issue).toBeNull();
    expect({ sent: network.sent, address: victim.location.href }).toEqual({ sent: [], address: `${page}?own=1` });
  });

  test('refuses the answer of another service', async () => {
    gmail();
    const shown = stubPage(page);
    const storage = memoryStorage();
    const back = await leave(createLogin(clientOf(app, { storage })), shown, 'oidc:google');
    shown.location.href = back.replace(encodeURIComponent(publicUrl), encodeURIComponent('https://evil.example'));
    expect(shown.location.href).not.toBe(back);
    const network = createNetwork();
    const login = createLogin(clientOf(app, { storage, fetch: network.fetch }));
    expect(inStep(await login.resumeRedirect(), 'refused')).toMatchObject({ reason: 'failed' });
    expect(network.sent).toEqual([]);
  });

  test('keeps the logins of two tabs apart', async () => {
    const storage = memoryStorage();
    const shown = stubPage(page);
    const emails = [gmail()];
    const one = await leave(createLogin(clientOf(app, { storage })), shown, 'oidc:google');
    emails.push(gmail());
    const two = await leave(createLogin(clientOf(app, { storage })), shown, 'oidc:google');
    const users: string[] = [];
    for (const address of [one, two]) {
      shown.location.href = address;
      users.push(inStep(await createLogin(clientOf(app, { storage })).resumeRedirect(), 'done').user_id);
    }
    expect(new Set(users).size).toBe(2);
  });

  test('is at its first step again after the back button', async () => {
    const shown = stubPage(page);
    const login = createLogin(clientOf(app));
    inStep(await login.redirect('oidc:google'), 'redirect');
    shown.comeBack();
    expect(login.current.step).toBe('start');
  });

  test('ends one login for two calls at once, and for a reload nothing is left', async () => {
    gmail();
    const shown = stubPage(page);
    const storage = memoryStorage();
    shown.location.href = await leave(createLogin(clientOf(app, { storage })), shown, 'oidc:google');
    const login = createLogin(clientOf(app, { storage }));
    const states = await Promise.all([login.resumeRedirect(), login.resumeRedirect()]);
    expect(states.map(({ step }) => step)).toEqual(['done', 'done']);
    const again = createLogin(clientOf(app, { storage: memoryStorage() }));
    expect((await again.resumeRedirect()).step).toBe('start');
  });

  test('sends the answer again after a lost network', async () => {
    gmail();
    const shown = stubPage(page);
    const storage = memoryStorage();
    shown.location.href = await leave(createLogin(clientOf(app, { storage })), shown, 'oidc:google');
    const network = createNetwork();
    network.answer = (_request, number) => (number === 1 ? lost() : undefined);
    const login = createLogin(clientOf(app, { storage, fetch: network.fetch }));
    const state = inStep(await login.resumeRedirect(), 'redirect');
    expect(state).toMatchObject({ issue: { kind: 'offline' }, url: null });
    if (state.retry === null) throw new Error('The answer cannot be sent again.');
    inStep(await state.retry(), 'done');
  });

  test('ignores a login that the user has cancelled', async () => {
    gmail();
    const shown = stubPage(page);
    const storage = memoryStorage();
    const login = createLogin(clientOf(app, { storage }));
    const away = inStep(await login.redirect('oidc:google'), 'redirect');
    expect(away).toMatchObject({ url: shown.left[0], authenticator: 'oidc:google' });
    expect(away.cancel().step).toBe('start');
    shown.location.href = await browser().goThrough(shown.left[0] ?? '');
    const next = createLogin(clientOf(app, { storage }));
    await expect.poll(async () => (await next.resumeRedirect()).step).toBe('start');
  });
});

describe('what the provider answers', () => {
  /** Goes through the provider in an app whose browser returns the address. */
  const redirect = (authenticator: 'oidc:google' | 'oidc:closed', login = createLogin(clientOf(app))) =>
    login.redirect(authenticator, {
      ...{ redirectTo: 'com.example.app:/callback', open: (url: string) => browser().goThrough(url) },
    });

  test('signs in', async () => {
    gmail();
    const first = inStep(await redirect('oidc:google'), 'done');
    expect(inStep(await redirect('oidc:google'), 'done').user_id).toBe(first.user_id);
  });

  test('has no user, and the account cannot sign up', async () => {
    const login = createLogin(clientOf(app));
    const state = inStep(await redirect('oidc:closed', login), 'refused');
    expect(state).toMatchObject({ reason: 'not_linked', authenticator: 'oidc:closed', issue: null });
    expect(state.message).toContain('linked');
    expect(state.restart().step).toBe('start');
    expect(login.current.step).toBe('start');
  });

  test('can be tried again', async () => {
    vendor.denial = { error: 'server_error' };
    const state = inStep(await redirect('oidc:google'), 'refused');
    expect(state.reason).toBe('provider_unavailable');
    gmail();
    vendor.denial = undefined;
    inStep(await state.retry(), 'done');
  });

  test('was cancelled there', async () => {
    vendor.denial = { error: 'access_denied' };
    expect(inStep(await redirect('oidc:google'), 'start').issue).toMatchObject({ kind: 'cancelled' });
  });

  test('was wrong', async () => {
    vendor.account = { sub: 'x', nonce: 'another' };
    expect(inStep(await redirect('oidc:google'), 'refused').reason).toBe('failed');
  });

  test('needs a code to the address, which can be wrong and sent again', async () => {
    const email = `${randomUUID()}@example.com`;
    vendor.account = { sub: randomUUID(), email, email_verified: true };
    const state = inStep(await redirect('oidc:google'), 'code');
    expect(state).toMatchObject({ channel: 'email', takesPin: false });
    expect(state.destination).toMatch(/@example\.com$/);
    const wrong = inStep(await state.submit({ code: '000000' }), 'code');
    expect(wrong.issue).toMatchObject({ kind: 'wrong' });
    const again = inStep(await wrong.resend(), 'code');
    inStep(await again.submit({ code: await mailedCode(email) }), 'done');
  });

  test('has the address of a user, who proves to be that user with the password', async () => {
    const email = gmail();
    const user = await createUser(app, { email, password: 'correct horse battery' });
    const state = inStep(await redirect('oidc:google'), 'link');
    expect(state).toMatchObject({ authenticators: ['password', 'email'], recovery: false, sent: null, passkey: null });
    const wrong = inStep(await state.submit({ authenticator: 'password', secret: 'wrong' }), 'link');
    expect(wrong.issue).toMatchObject({ kind: 'wrong' });
    const done = inStep(await wrong.submit({ authenticator: 'password', secret: 'correct horse battery' }), 'done');
    expect(done.user_id).toBe(user.id);
    expect(inStep(await redirect('oidc:google'), 'done').user_id).toBe(user.id);
  });

  test('has the address of a user, who proves to be that user with a code', async () => {
    const email = gmail();
    const user = await createUser(app, { email, password: 'correct horse battery' });
    const state = inStep(await redirect('oidc:google'), 'link');
    const sent = inStep(await state.send('email'), 'link');
    expect(sent.sent).toMatchObject({ authenticator: 'email' });
    const wrong = inStep(await sent.submit({ authenticator: 'email', secret: '000000' }), 'link');
    expect(wrong).toMatchObject({ issue: { kind: 'wrong' }, sent: { authenticator: 'email' } });
    const code = await mailedCode(email);
    const done = inStep(await wrong.submit({ authenticator: 'email', secret: code }), 'done');
    expect(done.user_id).toBe(user.id);
  });

  test('is not sent on for an address that nobody has listed: the issue says what to configure', async () => {
    const state = await createLogin(clientOf(app)).redirect('oidc:google', {
      ...{ redirectTo: 'https://evil.example/', open: () => null },
    });
    expect(inStep(state, 'start').issue).toMatchObject({
      ...{ kind: 'failed', error: { code: 'redirect_not_allowed' }, message: expect.stringContaining('REDIRECT_URIS') },
    });
  });
});

test('an account is linked to the user who is signed in, and a login ignores its answer', async () => {
  // The proofs of a key name the address of the service, which is not PUBLIC_URL here.
  const { addKey: _, ...storage } = memoryStorage();
  const { postern, user } = await signedIn(app, { storage });
  const account = createAccount(postern);
  const redirectTo = 'com.example.app:/callback';
  const options = { proof: passwordProof(password), redirectTo };
  gmail();
  let address = '';
  const open = async (url: string) => {
    address = await browser().goThrough(url);
    return undefined;
  };
  expect(await account.linkProvider('google', { ...options, open })).toBeNull();
  expect((await createLogin(postern).resumeRedirect(address)).step).toBe('start');
  const linked = { provider: 'google', issuer: vendor.url, subject: vendor.account.sub };
  // React calls an effect twice.
  const calls = await Promise.all([account.resumeLink(address), createAccount(postern).resumeLink(address)]);
  expect(calls).toMatchObject([linked, linked]);
  expect(await account.resumeLink(address)).toBeNull();
  expect(await account.listIdentities()).toMatchObject([linked]);
  const again = await createLogin(clientOf(app)).redirect('oidc:google', {
    ...{ redirectTo, open: (url: string) => browser().goThrough(url) },
  });
  expect(inStep(again, 'done').user_id).toBe(user.id);
  const closed = account.linkProvider('google', { ...options, open: () => null });
  await expect(closed).rejects.toMatchObject({ kind: 'cancelled' });
});

test('a link that another user completes is refused', async () => {
  const redirectTo = 'com.example.app:/callback';
  const { addKey: _, ...storage } = memoryStorage();
  const { postern } = await signedIn(app, { storage });
  gmail();
  let address = '';
  await createAccount(postern).linkProvider('google', {
    ...{ proof: passwordProof(password), redirectTo },
    async open(url) {
      address = await browser().goThrough(url);
      return undefined;
    },
  });
  const other = await createUser(app);
  await createLogin(postern)
    .start()
    .password({ identity: other.username ?? '', password });
  await expect(createAccount(postern).resumeLink(address)).rejects.toMatchObject({
    code: 'external_identity_rejected',
  });
});

describe('a proof', () => {
  /** A user who has only an account at the provider. */
  async function newcomer() {
    gmail();
    vendor.account = { sub: vendor.account.sub };
    // The proofs of a key name the address of the service, which is not PUBLIC_URL here.
    const { addKey: _, ...storage } = memoryStorage();
    const postern = clientOf(app, { storage });
    const redirectTo = 'com.example.app:/callback';
    const open = (url: string) => browser().goThrough(url);
    inStep(await createLogin(postern).redirect('oidc:google', { redirectTo, open }), 'done');
    vendor.account = { ...vendor.account, auth_time: Math.floor(Date.now() / 1000) };
    return { postern, redirectTo, open };
  }
  const choose = (provide: (choice: ProofChoice<'provider'>) => Promise<Proof<'provider'> | null>) => {
    const asked: ProofRequest[] = [];
    const prove = async (request: ProofRequest): Promise<Proof<'provider'> | null> => {
      asked.push(request);
      const choice = request.choices.find(({ type }) => type === 'provider');
      return choice?.type === 'provider' ? provide(choice) : null;
    };
    return { asked, prove };
  };

  test('is a new login at the provider, and its user can then set a password', async () => {
    const { postern, redirectTo, open } = await newcomer();
    const { asked, prove } = choose((choice) => choice.prove({ redirectTo, open }));
    const account = createAccount(postern, { prove });
    await account.setPassword('the moon and back again');
    expect(asked).toMatchObject([
      { operation: 'set_password', choices: [{ type: 'provider', provider: 'google' }, {}] },
    ]);
    expect(vendor.authorizations.at(-1)?.get('prompt')).toBe('login');
    expect(await account.proofChoices('remove_totp')).toMatchObject([{ type: 'password' }]);
  });

  test('is not asked for the first address of a new user, and is for the next one', async () => {
    const { postern } = await newcomer();
    const { asked, prove } = choose(async () => null);
    const account = createAccount(postern, { prove });
    await account.setEmail(newEmail());
    expect(asked).toEqual([]);
    await expect(account.addPasskey('My phone')).rejects.toMatchObject({
      kind: expect.stringMatching(/cancelled|unsupported/),
    });
    await app.database.query(testSql("update users set created_at = created_at - interval '11 minutes'"));
    await expect(account.setEmail(newEmail())).rejects.toMatchObject({ kind: 'cancelled' });
    expect(asked.at(-1)).toMatchObject({ operation: 'set_email', choices: [{ provider: 'google' }, {}] });
  });

  test('leads over another page, and is taken up once when the page loads again', async () => {
    const { postern } = await newcomer();
    const shown = stubPage(`${page}?tab=1#part`);
    const { prove } = choose((choice) => choice.prove());
    const left = createAccount(postern, { prove }).setUsername('grace-by-proof');
    await expect(left).rejects.toMatchObject({ kind: 'cancelled' });
    shown.location.href = await browser().goThrough(shown.left.at(-1) ?? '');
    expect(await createAccount(postern).resumeLink()).toBeNull();
    expect((await createLogin(postern).resumeRedirect()).step).toBe('start');
    const resumed = await createAccount(postern).resumeProof();
    expect(shown.location.href).toBe(page);
    expect(resumed?.operation).toBe('set_username');
    expect(JSON.stringify(resumed)).not.toContain('code_verifier');
    expect(await createAccount(postern).resumeProof()).toBeNull();
    if (resumed === null) throw new Error('There is no proof.');
    const account = createAccount(postern);
    expect(await account.setUsername('grace-by-proof', { proof: resumed.proof })).toMatchObject({
      username: 'grace-by-proof',
    });
    // It is valid for one operation.
    const again = account.setUsername('ada-by-proof', { proof: resumed.proof });
    await expect(again).rejects.toMatchObject({ code: 'proof_rejected' });
  });

  test('is missing if the person cancels at the provider, or closes the browser', async () => {
    const { postern, redirectTo, open } = await newcomer();
    vendor.denial = { error: 'access_denied' };
    for (const leaving of [open, () => null]) {
      const { prove } = choose((choice) => choice.prove({ redirectTo, open: leaving }));
      const refused = createAccount(postern, { prove }).setUsername('nobody');
      await expect(refused).rejects.toMatchObject({ kind: 'cancelled' });
    }
    vendor.denial = undefined;
    // The provider does not say that the person has logged in now.
    vendor.account = { sub: vendor.account.sub };
    const { prove } = choose((choice) => choice.prove({ redirectTo, open }));
    const unproven = createAccount(postern, { prove }).setUsername('nobody');
    await expect(unproven).rejects.toMatchObject({ kind: 'provider', code: 'failed' });
  });
});

test.each<[string, () => () => void]>([
  [
    'and says so',
    () => {
      vi.stubGlobal('navigator', { cookieEnabled: false });
      return () => vi.stubGlobal('navigator', { cookieEnabled: true });
    },
  ],
  [
    'and refuses the storage of the page',
    () => {
      const { sessionStorage } = globalThis as { readonly sessionStorage?: unknown };
      const refuse = () => {
        throw new Error('Access is denied for this document.');
      };
      Object.defineProperty(globalThis, 'sessionStorage', { configurable: true, get: refuse });
      return () => Object.defineProperty(globalThis, 'sessionStorage', { configurable: true, value: sessionStorage });
    },
  ],
])('a browser that blocks cookies (%s) is not sent to a provider, and the state says why', async (_title, block) => {
  const shown = stubPage(page);
  const allow = block();
  const login = createLogin(clientOf(app));
  const state = inStep(await login.redirect('oidc:google'), 'refused');
  expect(state).toMatchObject({ reason: 'no_cookies', message: expect.stringContaining('cookies') });
  expect(shown.left).toEqual([]);
  allow();
  inStep(await state.retry(), 'redirect');
  expect(shown.left).toHaveLength(1);
});

describe('in an app', () => {
  test('needs `redirectTo` and `open`', async () => {
    await expect(createLogin(clientOf(app)).redirect('oidc:google')).rejects.toMatchObject({ kind: 'usage' });
  });

  test('is cancelled when the user closes the browser', async () => {
    const login = createLogin(clientOf(app));
    const state = await login.redirect('oidc:google', { redirectTo: 'com.example.app:/callback', open: () => null });
    expect(inStep(state, 'start').issue).toMatchObject({ kind: 'cancelled' });
  });

  test('ends when the app gets the address later', async () => {
    gmail();
    const login = createLogin(clientOf(app));
    let url = '';
    const open = (address: string) => {
      url = address;
      return undefined;
    };
    const away = await login.redirect('oidc:google', { redirectTo: 'com.example.app:/callback', open });
    expect(away.step).toBe('redirect');
    const back = await browser().goThrough(url);
    inStep(await login.resumeRedirect(back), 'done');
  });

  test('works without `crypto.subtle`', async () => {
    gmail();
    const { crypto } = globalThis;
    vi.stubGlobal('crypto', { getRandomValues: (bytes: Uint8Array<ArrayBuffer>) => crypto.getRandomValues(bytes) });
    const open = (url: string) => {
      // The service of this test runs in the same process, and needs it.
      vi.unstubAllGlobals();
      return browser().goThrough(url);
    };
    const redirectTo = 'com.example.app:/callback';
    inStep(await createLogin(clientOf(app)).redirect('oidc:google', { redirectTo, open }), 'done');
  });

  test('says so if there are no random bytes', async () => {
    vi.stubGlobal('crypto', undefined);
    const state = await createLogin(clientOf(app)).redirect('oidc:google', {
      ...{ redirectTo: 'com.example.app:/callback', open: () => null },
    });
    expect(state.issue).toMatchObject({ kind: 'unsupported' });
  });

  test.each(Array.from({ length: 9 }, (_, index) => [index * 16]))('hashes %d letters as others do', (length) => {
    const text = randomBytes(64).toString('hex').slice(0, length);
    expect(Buffer.from(bytesOf(sha256(text))).toString('hex')).toBe(createHash('sha256').update(text).digest('hex'));
  });
});

test('a login at the sign-in page of Postern can ask the user to sign in again', async () => {
  const bodies: unknown[] = [];
  const challenge = { type: 'redirect', url: `${publicUrl}/redirects/${randomUUID()}` };
  const postern = createPostern({
    ...{ url: publicUrl, storage: memoryStorage(), device: {} },
    fetch: async (_url, init) => {
      bodies.push(JSON.parse(`${init?.body}`));
      return Response.json({ id: randomUUID(), status: 'pending', challenge }, { status: 201 });
    },
  });
  const input = { redirectTo: page, open: () => undefined };
  await createLogin(postern).redirect('page', { ...input, prompt: 'login', maxAge: 60 });
  await createLogin(postern).redirect('page', input);
  expect(bodies[0]).toMatchObject({ authenticator: 'page', redirect_to: page, prompt: 'login', max_age: 60 });
  expect(Object.keys(bodies[1] as object).sort()).toEqual(['authenticator', 'code_challenge', 'device', 'redirect_to']);
});
