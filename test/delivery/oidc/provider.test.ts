import { createHmac, generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { SignJWT } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createIdentityProvider, type ProviderOptions } from '../../../src/delivery/oidc/provider.js';
import { createOutbound, type Outbound } from '../../../src/delivery/outbound.js';
import type { FailedExchange, ProviderAccount } from '../../../src/login/providers/provider.js';
import { startVendor, type Vendor } from '../../support/vendor.js';

/** Attacks by a provider, or by somebody who answers in its place. */

let vendor: Vendor;
let open: Outbound;
let guarded: Outbound;
beforeAll(async () => {
  vendor = await startVendor();
  open = createOutbound({ allowPrivateNetworkTargets: true });
  guarded = createOutbound({ allowPrivateNetworkTargets: false });
});
afterAll(async () => {
  await Promise.all([open.close(), guarded.close()]);
  await vendor.close();
});
beforeEach(() => vendor.reset());

const hung: ServerResponse[] = [];
/** The requests to providers that have no answer yet. */
let running = 0;
afterEach(async () => {
  for (const response of hung.splice(0)) response.destroy();
  await expect.poll(() => running).toBe(0);
});

const redirectUri = 'https://auth.example.com/callback/vendor';

function providerOf(more: Partial<ProviderOptions> = {}) {
  return createIdentityProvider({
    ...{ name: 'vendor', title: 'Vendor', issuer: vendor.url, mailboxesOf: undefined, hasTenants: false },
    ...{ tenants: undefined, clientIds: ['ours'], algorithms: ['RS256'], signUp: true, endpoints: undefined },
    map: { subject: 'sub' },
    client: { clientId: 'ours', secret: 'a secret', scopes: 'openid', pkce: true, redirectUri, postsAnswer: false },
    // Only the vendor may be called although its address is private.
    outbound: {
      async request(request) {
        running += 1;
        try {
          return await (request.url.startsWith(vendor.url) ? open : guarded).request(request);
        } finally {
          running -= 1;
        }
      },
      close: async () => undefined,
    },
    ...more,
  });
}
type Provider = ReturnType<typeof providerOf>;

const attempt = () => ({
  ...{ state: randomUUID(), nonce: randomUUID(), codeVerifier: randomBytes(32).toString('base64url') },
  now: new Date(),
});

/** A whole login at the provider. */
async function exchange(provider: Provider, expected = attempt()): Promise<ProviderAccount | FailedExchange> {
  const { redirect } = provider;
  if (redirect === undefined) throw new Error('the provider has no client');
  const url = await redirect.authorizationUrl({ ...expected, loginHint: undefined });
  const { answer } = await vendor.authorize(url);
  return redirect.exchange(answer, expected);
}
const errorOf = async (provider: Provider, expected?: ReturnType<typeof attempt>) => {
  const result = await exchange(provider, expected);
  return 'error' in result ? result.error : result.subject;
};

/** The vendor answers the token request with this id_token. */
function answerWith(token: (asked: ReturnType<typeof attempt>) => Promise<string> | string) {
  const expected = attempt();
  vendor.onToken = (_request, response) => {
    void Promise.resolve(token(expected)).then((id_token) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ access_token: 'a', token_type: 'bearer', id_token })),
    );
    return true;
  };
  return expected;
}

const sub = 'the-victim';
const claimsOf = ({ nonce }: { nonce: string }) => ({ sub, nonce, aud: 'ours' });
const unsigned = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const seconds = () => Math.floor(Date.now() / 1000);
const otherKeys = generateKeyPairSync('rsa', { modulusLength: 2048 });
const signedByOther = (claims: object, header: object = {}) =>
  new SignJWT({ iss: vendor.url, ...claims })
    .setIssuedAt()
    .setExpirationTime('5m')
    .setProtectedHeader({ alg: 'RS256', kid: 'k', ...header })
    .sign(otherKeys.privateKey);

describe('an id_token from a provider', () => {
  test('with the right claims and key is accepted', async () => {
    expect(
      await errorOf(
        providerOf(),
        answerWith((asked) => vendor.sign(claimsOf(asked))),
      ),
    ).toBe(sub);
  });

  test.each<[string, (asked: { nonce: string }) => Promise<string> | string]>([
    ['for another client', (asked) => vendor.sign({ ...claimsOf(asked), aud: 'theirs' })],
    ['for us and an unknown client', (asked) => vendor.sign({ ...claimsOf(asked), aud: ['ours', 'theirs'] })],
    ['for another login', (asked) => vendor.sign({ ...claimsOf(asked), nonce: 'another' })],
    ['without a nonce', () => vendor.sign({ sub, aud: 'ours' })],
    ['of another issuer', (asked) => vendor.sign({ ...claimsOf(asked), iss: 'https://evil.example' })],
    ['that has expired', (asked) => vendor.sign({ ...claimsOf(asked), exp: seconds() - 120 })],
    ['that is old', (asked) => vendor.sign({ ...claimsOf(asked), iat: seconds() - 3600 })],
    ['that is no id_token', (asked) => vendor.sign(claimsOf(asked), { typ: 'at+jwt' })],
    ['without a subject', ({ nonce }) => vendor.sign({ nonce, aud: 'ours' })],
    ['with a subject that is no text', (asked) => vendor.sign({ ...claimsOf(asked), sub: ['the-victim'] })],
    ['of another key with the same id', (asked) => signedByOther(claimsOf(asked))],
    [
      'that brings its own key',
      (asked) => signedByOther(claimsOf(asked), { jwk: otherKeys.publicKey.export({ format: 'jwk' }) }),
    ],
    ['that names another key set', (asked) => signedByOther(claimsOf(asked), { jku: 'https://evil.example/keys' })],
    [
      'without a signature (alg none)',
      (asked) =>
        `${unsigned({ alg: 'none' })}.${unsigned({ iss: vendor.url, iat: seconds(), exp: seconds() + 300, ...claimsOf(asked) })}.`,
    ],
    [
      'whose HMAC has the public key as its secret',
      async (asked) => {
        const keys = (await (await fetch(`${vendor.url}/keys`)).json()) as { keys: object[] };
        const claims = { iss: vendor.url, iat: seconds(), exp: seconds() + 300, ...claimsOf(asked) };
        const content = `${unsigned({ alg: 'HS256', kid: 'k' })}.${unsigned(claims)}`;
        return `${content}.${createHmac('sha256', JSON.stringify(keys.keys[0])).update(content).digest('base64url')}`;
      },
    ],
    ['that is HTML', () => '<html>'],
  ])('%s is refused', async (_title, token) => {
    expect(await errorOf(providerOf(), answerWith(token))).toBe('failed');
  });

  test('of a key that has replaced the former one is accepted, and of the former one no longer', async () => {
    const provider = providerOf({ cooldownMs: 0 });
    expect(
      await errorOf(
        provider,
        answerWith((asked) => vendor.sign(claimsOf(asked))),
      ),
    ).toBe(sub);
    vendor.onDocument = (path, response) => {
      if (path !== '/keys') return false;
      const key = { ...otherKeys.publicKey.export({ format: 'jwk' }), kid: 'new', alg: 'RS256', use: 'sig' };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: [key] }));
      return true;
    };
    expect(
      await errorOf(
        provider,
        answerWith((asked) => signedByOther(claimsOf(asked), { kid: 'new' })),
      ),
    ).toBe(sub);
    expect(
      await errorOf(
        provider,
        answerWith((asked) => vendor.sign(claimsOf(asked))),
      ),
    ).toBe('failed');
  });
});

describe('PKCE and nonce', () => {
  test('refuse the code of another login, also if the provider ignores PKCE', async () => {
    const provider = providerOf();
    const { redirect } = provider;
    const [victim, attacker] = [attempt(), attempt()];
    const stolen = async () =>
      (await vendor.authorize((await redirect?.authorizationUrl({ ...victim, loginHint: undefined })) ?? '')).answer;
    const injected = await stolen();
    injected.set('state', attacker.state);
    expect(await redirect?.exchange(injected, attacker)).toMatchObject({ error: 'failed' });
    // This vendor does not compare the verifier.
    vendor.onToken = (_request, response) => {
      void vendor
        .sign(claimsOf(victim))
        .then((id_token) =>
          response
            .writeHead(200, { 'content-type': 'application/json' })
            .end(JSON.stringify({ access_token: 'a', token_type: 'bearer', id_token })),
        );
      return true;
    };
    expect(await redirect?.exchange(injected, attacker)).toMatchObject({ error: 'failed' });
  });
});

/** The endpoints of the vendor that a login needs, each answered by an attacker. */
const endpoints = ['/.well-known/openid-configuration', '/token', '/keys', '/userinfo'] as const;

function answerAt(path: string, answer: (response: ServerResponse) => void) {
  vendor.onDocument = (asked, response) => {
    if (asked !== path) return false;
    answer(response);
    return true;
  };
}

/** A login at a new provider: by id_token, or by the userinfo endpoint. The start also fails if the provider does. */
async function logInAt(path: (typeof endpoints)[number], more: Partial<ProviderOptions> = {}): Promise<string> {
  const own = {
    authorization: `${vendor.url}/authorize`,
    ...{ token: `${vendor.url}/token`, userinfo: `${vendor.url}/userinfo` },
  };
  const provider = providerOf({ ...more, ...(path === '/userinfo' && { endpoints: own }) });
  return errorOf(provider).catch(() => 'not begun');
}

const failures = ['failed', 'provider_unavailable', 'not begun'];

describe.each(endpoints)('a provider that lies at %s', (path) => {
  test.each<[string, (response: ServerResponse) => void]>([
    ['HTML', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html><h1>Log in')],
    ['an error with 200', (response) => response.writeHead(200).end('{"error":"bad_verification_code"}')],
    ['an error with 500', (response) => response.writeHead(500).end('{}')],
    ['a list', (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('[]')],
    [
      'a redirect to a private address',
      (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    ],
    // It is never unpacked: 50 MB of zeros in less than 64 KiB.
    [
      'a compressed answer',
      (response) =>
        response
          .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
          .end(gzipSync(Buffer.alloc(50_000_000))),
    ],
    ['half an answer', (response) => response.writeHead(200, { 'content-length': '100' }).end('{')],
    ['nothing', (response) => response.destroy()],
  ])('by %s is no login', async (_title, lie) => {
    answerAt(path, lie);
    expect(failures).toContain(await logInAt(path));
  });

  test('is left alone after some kilobytes of an answer that never ends', async () => {
    let sent = 0;
    const ended = new Promise<void>((resolve) => {
      answerAt(path, (response) => {
        const chunk = Buffer.alloc(65_536, ' ');
        response.writeHead(200, { 'content-type': 'application/json' }).on('close', () => resolve());
        const more = () => {
          while (!response.destroyed && response.write(chunk)) sent += chunk.length;
          sent += chunk.length;
          if (!response.destroyed) response.once('drain', more);
        };
        more();
      });
    });
    expect(failures).toContain(await logInAt(path));
    await ended;
    expect(sent).toBeLessThan(20_000_000);
  });
});

describe.each(['/token', '/keys', '/userinfo'] as const)('a provider that hangs at %s', (path) => {
  test.each<[string, (response: ServerResponse) => void]>([
    ['without an answer', () => undefined],
    [
      'with one byte at a time',
      (response) => {
        const timer = setInterval(() => response.write(' '), 5);
        response.writeHead(200, { 'content-type': 'application/json' }).on('close', () => clearInterval(timer));
      },
    ],
  ])('keeps nobody longer than the limit, %s', async (_title, hang) => {
    answerAt(path, (response) => {
      hung.push(response);
      hang(response);
    });
    // On a busy machine, a short limit may end before the request that hangs.
    for (let exchangeMs = 50; hung.length === 0; exchangeMs *= 2) {
      expect(await logInAt(path, { exchangeMs })).toBe('provider_unavailable');
    }
    // It was the limit of the exchange: the request, whose own limit is longer, still waits.
    expect(running).toBeGreaterThan(0);
    vendor.onDocument = undefined;
    expect(failures).not.toContain(await logInAt(path));
  });
});

test.each(endpoints)('a provider that redirects from %s to itself is not followed', async (path) => {
  let followed = 0;
  vendor.onDocument = (asked, response) => {
    followed += asked === '/moved' ? 1 : 0;
    if (asked !== path && asked !== '/moved') return false;
    response.writeHead(307, { location: `${vendor.url}/moved` }).end();
    return true;
  };
  expect(failures).toContain(await logInAt(path));
  expect(followed).toBe(0);
});

describe('the metadata of a provider', () => {
  test.each([
    ['token_endpoint', 'http://169.254.169.254/latest/meta-data'],
    ['token_endpoint', 'https://10.0.0.1/token'],
    ['jwks_uri', 'http://127.0.0.1:1/keys'],
    ['jwks_uri', 'file:///etc/passwd'],
    ['authorization_endpoint', 'javascript:alert(1)'],
    ['authorization_endpoint', 'data:text/html,hello'],
    ['authorization_endpoint', 17],
    ['issuer', 'https://evil.example'],
  ])('whose %s is %s makes no login', async (name, value) => {
    vendor.metadata = { [name]: value };
    expect(failures).toContain(await errorOf(providerOf()).catch(() => 'not begun'));
  });

  test('of a provider with https sends nobody to http', async () => {
    const issuer = 'https://login.example.com';
    const document = {
      ...{ issuer, jwks_uri: `${issuer}/keys`, token_endpoint: `${issuer}/token` },
      authorization_endpoint: 'http://login.example.com/authorize',
    };
    const outbound: Outbound = {
      request: async () => ({ status: 200, headers: {}, body: Buffer.from(JSON.stringify(document)) }),
      close: async () => undefined,
    };
    const { redirect } = providerOf({ issuer, outbound });
    await expect(redirect?.authorizationUrl({ ...attempt(), loginHint: undefined })).rejects.toThrow('https');
  });
});

describe('the address in an id_token', () => {
  const google = { email: 'victim@gmail.com', email_verified: true };
  test.each<[ProviderOptions['mailboxesOf'], object, boolean]>([
    ['google', google, true],
    ['google', { email: 'victim@firm.example', email_verified: true, hd: 'firm.example' }, true],
    ['google', { email: 'victim@firm.example', email_verified: true }, false],
    ['google', { ...google, email_verified: false }, false],
    ['google', { ...google, email_verified: 'true' }, false],
    ['google', { email: 'victim@gmail.com.evil.example', email_verified: true }, false],
    ['google', { email: 'victim@notgmail.com', email_verified: true }, false],
    ['apple', { email: 'victim@example.com', email_verified: 'true' }, true],
    ['apple', { email: 'victim@example.com', email_verified: 'false' }, false],
    // An administrator of any tenant can enter any address (nOAuth).
    ['microsoft', { email: 'victim@example.com' }, false],
    ['microsoft', { email: 'victim@example.com', email_verified: true }, false],
    ['microsoft', { email: 'victim@example.com', xms_edov: false }, false],
    ['microsoft', { email: 'victim@example.com', xms_edov: '0' }, false],
    ['microsoft', { email: 'victim@example.com', xms_edov: true, email_verified: false }, false],
    ['microsoft', { email: 'victim@example.com', xms_edov: true }, true],
    [undefined, google, false],
  ])('of %s with %o: the provider runs the mailbox: %s', async (mailboxesOf, claims, expected) => {
    const result = await exchange(
      providerOf({ mailboxesOf }),
      answerWith((asked) => vendor.sign({ ...claimsOf(asked), ...claims })),
    );
    expect(result).toMatchObject({ runsMailbox: expected });
  });
});

test('the accounts of a provider with tenants have the issuer of their tenant, on the same origin', () => {
  const issuer = 'https://login.microsoftonline.com/common/v2.0';
  const of = (tenant: string) => `https://login.microsoftonline.com/${tenant}/v2.0`;
  const { hasIssuer } = providerOf({ issuer, hasTenants: true });
  expect([hasIssuer(of('one')), hasIssuer('https://evil.example/one/v2.0')]).toEqual([true, false]);
  const limited = providerOf({ issuer, hasTenants: true, tenants: ['one'] });
  expect([limited.hasIssuer(of('one')), limited.hasIssuer(of('two'))]).toEqual([true, false]);
  expect(providerOf({ issuer }).hasIssuer(of('one'))).toBe(false);
});
