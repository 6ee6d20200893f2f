import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Account } from '../../../../src/contract/account/account.js';
import type { IssuedApiKey } from '../../../../src/contract/administration.js';
import type { SetUpLink } from '../../../../src/contract/console/set-up.js';
import type { User } from '../../../../src/contract/user.js';
import { createAdministration } from '../../../support/administration.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { createConsole } from '../../../support/console.js';
import { testSql } from '../../../support/sql.js';
import { createUser, password } from '../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0' });
});
afterAll(() => postern.close());

const { admin, eventsOf } = createAdministration(() => postern);
const { begin, browser, codeOf, complete, details, link, operator, responseOf } = createConsole(() => postern);

const codesOf = ({ status, body }: { status: number; body: ProblemAnswer }) => [
  status,
  ...body.errors.map(({ field, code }) => (field === undefined ? code : `${field} ${code}`)),
];
const codesOfUnknown = (answer: { status: number; body: unknown }) => codesOf(answer as Parameters<typeof codesOf>[0]);
const describeLink = (secret: string, language = 'en') =>
  browser().send<SetUpLink>('POST', '/console/setup/link', {
    body: { secret },
    headers: { 'accept-language': language },
  });
const usersNamed = async (username: string) =>
  (await admin<User[]>('GET', `/users?filter=username:eq:${username}`)).body;
const expire = (secret: string) =>
  postern.database.query(
    testSql(`update setup_links set expires_at = db_now() where digest = sha256($1::text::bytea)`, [secret]),
  );

describe('a set-up', () => {
  test('creates an operator with an authenticator app, who is signed in with a second factor', async () => {
    const secret = await link('operator');
    const described = await describeLink(secret);
    expect(described.status).toBe(200);
    expect(described.body).toMatchObject({ role: 'operator', app_name: 'Postern', password_min: 8 });
    const fields = details({ email: 'Ada@Example.com', locale: 'es' });
    const { status, body: factor } = await begin(secret, fields);
    expect(status).toBe(201);
    expect(factor.totp?.uri).toContain(`otpauth://totp/Postern:${fields.username}?secret=${factor.totp?.secret}`);
    const device = { make: 'Mozilla', model: 'Firefox' };
    const client = browser();
    const done = await complete(
      { secret, ...fields, factor_id: factor.id, code: await codeOf(factor), device },
      client,
    );
    expect(done.status).toBe(201);
    expect(done.body.recovery_codes).toHaveLength(10);
    const { token: bearer, user_id: id } = done.body.session;
    const account = await postern.api<Account>('GET', '/v1/account', { bearer });
    expect(account.body).toMatchObject({
      ...{ name: 'Ada Lovelace', username: fields.username, email: 'ada@example.com', locale: 'es' },
      ...{ role: 'operator', role_active: true, second_factors: [{ type: 'totp' }], has_password: true },
      capabilities: [
        ...[
          'users:read',
          'users:write',
          'notifications:write',
          'notifications:configure',
          'notifications:broadcast',
          'sessions:verify',
          'webhooks:write',
        ],
        ...['clients:forward', 'admin'],
      ],
    });
    // Needs the scope admin, a second factor and a fresh login.
    const key = await postern.api<IssuedApiKey>('POST', '/admin/v1/keys', {
      bearer,
      body: { name: 'mine', scopes: ['users:read'] },
    });
    expect(key.status).toBe(201);
    expect((await postern.api('GET', `/admin/v1/users/${id}/devices`, { bearer })).body).toMatchObject([device]);
    expect((await client.send('POST', '/console/session')).status).toBe(201);
    const events = await eventsOf(id);
    expect(events.map(({ type }) => type)).toEqual([
      ...['user.created', 'totp.enrolled', 'role.activated', 'login.approved'],
    ]);
    const [linkEvent] = await postern.database.query(
      testSql<{ data: object }>(`select data from events where type = 'setup_link.created' and data->>'link_id' = $1`, [
        events.find(({ type }) => type === 'role.activated')?.data.link_id,
      ]),
    );
    expect(linkEvent?.data).toMatchObject({ role: 'operator' });
  });

  test('creates a supporter with a passkey, whom the API limits', async () => {
    const secret = await link('support');
    const fields = details({ factor: 'passkey' });
    const { body: factor } = await begin(secret, fields);
    expect(factor.passkey?.options).toMatchObject({
      user: { name: fields.username, displayName: 'Ada Lovelace' },
    });
    const { response } = responseOf(factor);
    const { factor: _, ...person } = fields as typeof fields & { factor: string };
    const { body } = await complete({ secret, ...person, factor_id: factor.id, response });
    const { token: bearer, user_id: id } = body.session;
    expect((await postern.api<Account>('GET', '/v1/account', { bearer })).body).toMatchObject({
      ...{ role: 'support', role_active: true, second_factors: [{ type: 'passkey' }] },
      capabilities: ['users:read', 'users:write', 'notifications:write'],
    });
    expect((await postern.api('GET', '/admin/v1/users', { bearer })).status).toBe(200);
    const keys = await postern.api<ProblemAnswer>('GET', '/admin/v1/keys', { bearer });
    expect(codesOf(keys)).toEqual([403, 'insufficient_scope']);
    const promoted = await postern.api<ProblemAnswer>('PATCH', `/admin/v1/users/${id}`, {
      bearer,
      body: { role: 'operator' },
    });
    expect(codesOf(promoted)).toEqual([403, 'insufficient_scope']);
  });

  test('makes the factor required for later logins, also if SECOND_FACTOR is off', async () => {
    const lax = await startTestApp({ SECOND_FACTOR: 'off' });
    try {
      const { username } = await createConsole(() => lax).operator();
      const body = { identity: { type: 'username', value: username }, authenticator: 'password', secret: password };
      const login = await lax.api('POST', '/v1/tokens', { body: { ...body, device: {} } });
      expect(login.body).toMatchObject({ status: 'pending', challenge: { type: 'totp' } });
    } finally {
      await lax.close();
    }
  });

  test('can be repeated until it is completed', async () => {
    const secret = await link();
    const taken = await createUser(postern);
    const fields = details();
    expect(codesOfUnknown(await begin(secret, { ...fields, username: taken.username }))).toEqual([
      ...[409, 'username identity_taken'],
    ]);
    expect(codesOfUnknown(await begin(secret, { ...fields, password: 'password' }))).toEqual([
      ...[422, 'password password_too_common'],
    ]);
    const { username: _, ...nameless } = fields;
    expect(codesOfUnknown(await begin(secret, nameless))).toEqual([422, 'identity_required']);
    const { body: abandoned } = await begin(secret, fields);
    expect(abandoned.totp).toBeDefined();
    // The second attempt has another factor. The first one was abandoned.
    const { body: factor } = await begin(secret, fields);
    const code = await codeOf(factor);
    const wrong = { secret, ...fields, factor_id: factor.id, code: code === '000000' ? '000001' : '000000' };
    expect(codesOfUnknown(await complete(wrong))).toEqual([400, 'proof_rejected']);
    const weak = { secret, ...fields, factor_id: factor.id, code, password: 'short' };
    expect(codesOfUnknown(await complete(weak))).toEqual([422, 'password too_short']);
    expect(await usersNamed(fields.username)).toEqual([]);
    expect((await complete({ secret, ...fields, factor_id: factor.id, code })).status).toBe(201);
  });

  test('leaves nothing behind if its transaction fails', async () => {
    const secret = await link();
    const fields = details();
    const { body: factor } = await begin(secret, fields);
    const rival = await createUser(postern, { username: fields.username });
    const code = await codeOf(factor);
    const refused = await complete({ secret, ...fields, factor_id: factor.id, code });
    expect(codesOfUnknown(refused)).toEqual([409, 'username identity_taken']);
    expect(refused.setCookies).toEqual([]);
    expect((await usersNamed(fields.username)).map(({ id }) => id)).toEqual([rival.id]);
    expect((await describeLink(secret)).status).toBe(200);
    const other = { ...fields, username: `${fields.username}x` };
    expect((await complete({ secret, ...other, factor_id: factor.id, code })).status).toBe(201);
  });

  test('creates one user when several browsers complete it at once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const secret = await link();
      const attempts = await Promise.all(
        Array.from({ length: 6 }, async () => {
          const fields = details();
          const { body: factor } = await begin(secret, fields);
          return { secret, ...fields, factor_id: factor.id, code: await codeOf(factor) };
        }),
      );
      const answers = await Promise.all(attempts.map((attempt) => complete(attempt)));
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400, 400]);
      const refused = answers.filter(({ status }) => status === 400);
      expect(new Set(refused.map(({ body }) => body.errors[0]?.code))).toEqual(new Set(['setup_link_used']));
      const created = await Promise.all(attempts.map(({ username }) => usersNamed(username)));
      expect(created.flat()).toHaveLength(1);
    }
  });

  test('creates one user when a browser completes it twice at once', async () => {
    const secret = await link();
    const fields = details();
    const { body: factor } = await begin(secret, fields);
    const attempt = { secret, ...fields, factor_id: factor.id, code: await codeOf(factor) };
    const answers = await Promise.all([complete(attempt), complete(attempt)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400]);
  });
});

describe('a factor of a set-up', () => {
  test('belongs to its link', async () => {
    const fields = details();
    const { body: factor } = await begin(await link('support'), fields);
    const code = await codeOf(factor);
    const stolen = { secret: await link('operator'), ...fields, factor_id: factor.id, code };
    expect(codesOfUnknown(await complete(stolen))).toEqual([400, 'proof_rejected']);
  });

  test('is refused after five wrong codes, even with the right code', async () => {
    const secret = await link();
    const fields = details();
    const { body: factor } = await begin(secret, fields);
    const code = await codeOf(factor);
    const attempt = { secret, ...fields, factor_id: factor.id };
    for (let guess = 0; guess < 5; guess += 1) await complete({ ...attempt, code: 'wrong' });
    expect(codesOfUnknown(await complete({ ...attempt, code }))).toEqual([400, 'proof_rejected']);
    expect((await describeLink(secret)).status).toBe(200);
  });

  test('needs an answer of its own type', async () => {
    const secret = await link();
    const fields = details();
    const { body: totp } = await begin(secret, fields);
    const { body: passkey } = await begin(secret, { ...fields, factor: 'passkey' });
    const attempt = { secret, ...fields, factor_id: totp.id };
    const { response } = responseOf(passkey);
    expect(codesOfUnknown(await complete(attempt))).toEqual([422, 'code required']);
    expect(codesOfUnknown(await complete({ ...attempt, code: '000000', response }))).toEqual([
      ...[422, 'response conflicting_fields'],
    ]);
    expect(codesOfUnknown(await complete({ ...attempt, response }))).toEqual([400, 'proof_rejected']);
    const crossed = { ...attempt, factor_id: passkey.id, code: '000000' };
    expect(codesOfUnknown(await complete(crossed))).toEqual([400, 'proof_rejected']);
    const unknown = { ...attempt, factor_id: '0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11', code: '000000' };
    expect(codesOfUnknown(await complete(unknown))).toEqual([400, 'proof_rejected']);
  });
});

describe('a link that cannot be used', () => {
  const message = async (secret: string, language?: string) => {
    const { status, body } = await describeLink(secret, language);
    return [status, body.errors[0]?.code, body.errors[0]?.message];
  };

  test('says that it does not exist', async () => {
    const secret = `${(await link()).slice(0, -1)}`;
    expect(await message(secret)).toEqual([
      ...[400, 'setup_link_unknown'],
      'This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`.',
    ]);
    expect((await message(secret, 'es'))[2]).toContain('Este enlace de configuración no existe.');
    expect(codesOfUnknown(await begin(secret, details()))).toEqual([400, 'setup_link_unknown']);
  });

  test('says that it was used', async () => {
    const secret = await link();
    const fields = details();
    const { body: factor } = await begin(secret, fields);
    await complete({ secret, ...fields, factor_id: factor.id, code: await codeOf(factor) });
    await expire(secret);
    expect(await message(secret)).toEqual([
      ...[400, 'setup_link_used'],
      'This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.',
    ]);
    expect((await message(secret, 'es'))[2]).toContain('ya se usó');
    expect(codesOfUnknown(await begin(secret, details()))).toEqual([400, 'setup_link_used']);
  });

  test('says that it has expired, also after the factor was started', async () => {
    const secret = await link();
    const fields = details();
    const { body: factor } = await begin(secret, fields);
    const code = await codeOf(factor);
    await expire(secret);
    expect(await message(secret)).toEqual([
      ...[400, 'setup_link_expired'],
      'This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`.',
    ]);
    expect((await message(secret, 'es'))[2]).toContain('ha caducado');
    const late = await complete({ secret, ...fields, factor_id: factor.id, code });
    expect(codesOfUnknown(late)).toEqual([400, 'setup_link_expired']);
    expect(await usersNamed(fields.username)).toEqual([]);
  });
});

test('requests of other sites are refused', async () => {
  const secret = await link();
  for (const path of ['/console/setup/link', '/console/setup/factor', '/console/setup']) {
    const headers = { 'sec-fetch-site': 'cross-site' };
    const answer = await browser().send('POST', path, { body: { secret }, headers });
    expect(codesOfUnknown(answer)).toEqual([403, 'cross_site_request']);
  }
});

test('no secret is stored as text or logged', async () => {
  const { browser: client, session } = await operator();
  const tokens = [...client.cookies.values()];
  const rows = await postern.database.query(
    testSql<{ row: string }>(`
      select s::text as row from setup_links s union all select c::text from challenges c
      union all select a::text from authentications a`),
  );
  const texts = [...rows.map(({ row }) => row), ...postern.logged].join('\n');
  for (const secret of [session.token, ...tokens.filter((token) => token.startsWith('psa_'))]) {
    expect(secret.length).toBeGreaterThan(80);
    expect(texts).not.toContain(secret);
  }
});
