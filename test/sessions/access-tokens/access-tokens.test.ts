import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Audience } from '../../../src/contract/access-token.js';
import type { Handle } from '../../../src/database/database.js';
import { createSecretKeys } from '../../../src/lib/crypto/secret-keys.js';
import { createAccessTokens } from '../../../src/sessions/access-tokens/access-tokens.js';
import { rotateSigningKeys } from '../../../src/sessions/access-tokens/signing-keys.js';
import { createSnapshotVerifier } from '../../../src/sessions/fast-path/snapshot-verifier.js';
import { createAdministration } from '../../support/administration.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { stepClock } from '../../support/clock.js';
import { eventually } from '../../support/eventually.js';
import { createUser, signIn } from '../../support/users.js';

const secret = 'a secret key of more than 32 characters';
const issuer = 'https://auth.example.com';
const uri = 'https://api.example.com';
let postern: TestApp;
let audience: Audience;
beforeAll(async () => {
  postern = await startTestApp({ PUBLIC_URL: issuer, SECRET_KEY: secret, SESSION_TTL: '10m' });
  audience = (await admin<Audience>('POST', '/audiences', { uri, ttl: 900, roles: true, claims: ['plan'] })).body;
});
afterAll(() => postern.close());
const { admin } = createAdministration(() => postern);

/** The tokens of a service that has issued none yet. */
function createCountedTokens() {
  const sent: (string | undefined)[] = [];
  const database: Handle = {
    ...postern.database,
    query: (statement) => {
      sent.push(statement.name);
      return postern.database.query(statement);
    },
  };
  const { verify, confirmedAt } = createSnapshotVerifier(database);
  const keys = createSecretKeys([secret]);
  const tokens = createAccessTokens({ database, keys, issuer, appOf: () => undefined, confirmedAt });
  /** A token, and how often its login was looked up. */
  return async (session: string, ttl = 300) => {
    sent.length = 0;
    const { access_token: token } = await tokens.issue(await verify(session), { audience: uri, ttl });
    const lookUps = sent.filter((name) => name === 'access_token_logins').length;
    return { lookUps, kid: decodeProtectedHeader(token).kid, payload: decodeJwt(token) };
  };
}

async function visitor() {
  const user = await createUser(postern, { roles: ['editor'], claims: { plan: 'pro' } });
  const { session } = await signIn(postern, user);
  const issue = createCountedTokens();
  return { user, issue: (ttl?: number) => issue(session.token, ttl) };
}

test('a further token of a session says the same, and needs no look-up of the login', async () => {
  const { issue } = await visitor();
  const first = await issue();
  expect(first.lookUps).toBe(1);
  // The verifier keeps no session before the maintenance has run once in a copied database.
  const second = await eventually('a token without a look-up', async () => {
    const next = await issue();
    return next.lookUps === 0 ? next : undefined;
  });
  const { jti: _, iat: began = 0, exp: end = 0, ...rest } = second.payload;
  expect(first.payload).toMatchObject(rest);
  expect(Object.keys(second.payload)).toEqual(Object.keys(first.payload));
  expect([end - began, began >= (first.payload.iat ?? 0)]).toEqual([300, true]);
});

test.each<[string, object, object]>([
  ['a new role', { roles: ['editor', 'owner'] }, { roles: ['editor', 'owner'] }],
  ['a role that is taken away', { roles: [] }, { roles: [] }],
  ['other claims', { claims: { plan: 'free' } }, { claims: { plan: 'free' } }],
])('%s of the user is in the next token', async (_, change, expected) => {
  const { user, issue } = await visitor();
  await issue();
  await admin('PATCH', `/users/${user.id}`, change);
  const { lookUps, payload } = await issue();
  expect(lookUps).toBeGreaterThan(0);
  expect(payload).toMatchObject(expected);
});

test('a change of the audience or the keys counts for the next token', async () => {
  const { issue } = await visitor();
  const { kid } = await issue();
  await admin('PATCH', `/audiences/${audience.id}`, { roles: false });
  expect(Object.keys((await issue()).payload)).not.toContain('roles');
  await admin('PATCH', `/audiences/${audience.id}`, { roles: true });
  await issue();
  const rotate = () =>
    postern.database.transaction((tx) => rotateSigningKeys(tx, createSecretKeys([secret]), 'now', { actor: 'cli' }));
  const [rotated] = await rotate();
  const next = await issue();
  expect([next.kid === kid, next.kid]).toEqual([false, rotated?.kid]);
  expect((await issue()).lookUps).toBe(0);
});

test('a token that may last longer than the session looks at the end of the login', async () => {
  const { issue } = await visitor();
  await issue();
  const long = await issue(900);
  expect([long.lookUps, (long.payload.exp ?? 0) - (long.payload.iat ?? 0)]).toEqual([1, 900]);
});

test('after the clock of the database was set back, the login is looked up again', async () => {
  const { issue } = await visitor();
  await issue();
  try {
    await stepClock(postern.database, '-30 seconds');
    expect((await issue()).lookUps).toBe(1);
  } finally {
    await stepClock(postern.database, '0');
  }
});
