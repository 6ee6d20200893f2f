import { decodeJwt } from 'jose';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AccessToken, Audience } from '../../../../src/contract/access-token.js';
import type { IssuedApiKey } from '../../../../src/contract/administration.js';
import { createSecretKeys } from '../../../../src/lib/crypto/secret-keys.js';
import { rotateSigningKeys } from '../../../../src/sessions/access-tokens/signing-keys.js';
import { byPassword } from '../../../support/account.js';
import { createAdministration } from '../../../support/administration.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { stepClock } from '../../../support/clock.js';
import { type EventStream, endOf, eventsOf, openStream } from '../../../support/event-stream.js';
import { eventually } from '../../../support/eventually.js';
import { runs } from '../../../support/rounds.js';
import { testSql } from '../../../support/sql.js';
import { createUser, signIn } from '../../../support/users.js';

type Told = { readonly sid?: string; readonly sub?: string; readonly kid?: string; readonly before: string };
type Beat = { readonly through: string; readonly now: string };

const secret = 'a secret key of more than 32 characters';
const uri = 'https://api.example.com';
let postern: TestApp;
let other: TestApp;
beforeAll(async () => {
  const env = {
    ...{ PUBLIC_URL: 'https://auth.example.com', SECRET_KEY: secret, LOGIN_LIMIT_PER_ADDRESS: '0' },
    ...{ MAX_DEVICES: '2', SESSION_TTL: '1h' },
  };
  postern = await startTestApp(env, { streamTimes: { checkIntervalMs: 20, beatMs: 100 } });
  other = await postern.another();
  await admin<Audience>('POST', '/audiences', { uri, roles: true });
});
afterAll(async () => {
  await other.close();
  await postern.close();
});

const { admin } = createAdministration(() => postern);
const path = '/v1/revocations';
interface OpenOptions {
  readonly app?: TestApp;
  readonly bearer?: string;
  readonly lastEventId?: string;
}
const open = ({ app = postern, bearer = app.adminKey, lastEventId = '' }: OpenOptions = {}) =>
  openStream(app.url, { path, bearer, ...(lastEventId !== '' && { lastEventId }) });
const beats = (stream: EventStream, count: number) => eventsOf<Beat>(stream, 'beat', count);
const toldOf = (stream: EventStream) =>
  stream.events.filter(({ event }) => event === 'revocation').map(({ data }) => JSON.parse(data) as Told);
const ask = (token: string) =>
  postern.api<AccessToken>('POST', '/v1/access-tokens', { bearer: token, body: { audience: uri } });
const issueKey = async (scopes: readonly string[]) =>
  (await admin<IssuedApiKey>('POST', '/keys', { name: 'verifier', scopes })).body;

/** Waits until everything that is committed now was sent. */
async function settled(stream: EventStream): Promise<void> {
  const rows = await postern.database.query<{ now: string }>(testSql('select db_now()::text as now'));
  const now = Date.parse(rows[0]?.now ?? '');
  await eventually('a beat', async () =>
    stream.events.some(({ event, data }) => event === 'beat' && Date.parse((JSON.parse(data) as Beat).through) > now)
      ? true
      : undefined,
  );
}

/** A user with two logins, which had tokens already: the service keeps what it has read of them. */
async function visitor(fields: object = {}) {
  const user = await createUser(postern, fields);
  const first = await signIn(postern, user);
  const second = await signIn(postern, user);
  for (const { session } of [first, second]) expect((await ask(session.token)).status).toBe(201);
  return { user, first, second };
}
type Visitor = Awaited<ReturnType<typeof visitor>>;

type Act = [string, (visitor: Visitor) => Promise<unknown>, string[]];
/** What is told for each act that ends a login early, or that removes rights: `a` and `b` are the two logins. */
const acts: Act[] = [
  ['a logout', ({ first }) => postern.api('DELETE', '/v1/tokens', { basic: first.token }), ['a']],
  [
    'a logout everywhere else',
    ({ first }) => postern.api('POST', '/v1/account/logout-everywhere', { bearer: first.session.token }),
    ['b'],
  ],
  [
    'a logout everywhere',
    ({ first }) =>
      postern.api('POST', '/v1/account/logout-everywhere', { bearer: first.session.token, body: { all: true } }),
    ['a', 'b', 'user'],
  ],
  ['a logout by an operator', ({ user }) => admin('POST', `/users/${user.id}/logout`), ['a', 'b', 'user']],
  ['a lock', ({ user }) => admin('POST', `/users/${user.id}/lock`, { permanent: true }), ['user']],
  ['a deactivation', ({ user }) => admin('PATCH', `/users/${user.id}`, { status: 'deactivated' }), ['a', 'b', 'user']],
  ['a deletion', ({ user }) => admin('DELETE', `/users/${user.id}`), ['user']],
  [
    'a password that the user changes',
    ({ first }) =>
      postern.api('PUT', '/v1/account/password', {
        bearer: first.session.token,
        body: { password: 'another battery of horses', proof: byPassword },
      }),
    ['a', 'b', 'user'],
  ],
  [
    'a password that an operator sets',
    ({ user }) => admin('PATCH', `/users/${user.id}`, { password: 'another battery of horses' }),
    ['a', 'b', 'user'],
  ],
  [
    'a device that the user removes',
    ({ first, second }) =>
      postern.api('DELETE', `/v1/devices/${second.authentication.device_id}`, { bearer: first.session.token }),
    ['b'],
  ],
  [
    'a device that an operator removes',
    ({ user, first }) => admin('DELETE', `/users/${user.id}/devices/${first.authentication.device_id}`),
    ['a'],
  ],
  ['a login on more devices than allowed', ({ user }) => signIn(postern, user), ['a']],
  [
    'another login on the same device',
    ({ user, first }) => signIn(postern, user, { id: first.authentication.device_id }),
    ['a'],
  ],
  ['a role that is removed', ({ user }) => admin('PATCH', `/users/${user.id}`, { roles: ['reader'] }), ['user']],
  ['claims that change', ({ user }) => admin('PATCH', `/users/${user.id}`, { claims: { plan: 'free' } }), ['user']],
  [
    'a change by hand',
    ({ user }) => postern.database.query(testSql('update users set epoch = epoch + 1 where id = $1', [user.id])),
    ['a', 'b', 'user'],
  ],
  ...['expires_at', 'idle_expires_at'].map(
    (column): Act => [
      `an end by hand in ${column}`,
      async ({ user, first }) => {
        const change = `update authentications set ${column} = db_now() where user_id = $1 and id = $2`;
        await postern.database.query(testSql(change, [user.id, first.authentication.id]));
        // Both were valid at the last check.
        const check = () => postern.api('GET', '/v1/sessions/verify', { bearer: first.session.token });
        expect([(await check()).status, (await ask(first.session.token)).status]).toEqual([401, 401]);
      },
      ['a'],
    ],
  ),
];

describe('GET /v1/revocations', () => {
  test.each(acts)('tells %s', async (_, act, expected) => {
    const stream = await open({ app: other });
    const someone = await visitor({ roles: ['editor', 'reader'], claims: { plan: 'pro' } });
    const { user, first, second } = someone;
    await act(someone);
    await settled(stream);
    const names = new Map([
      [first.authentication.id, 'a'],
      [second.authentication.id, 'b'],
      [user.id, 'user'],
    ]);
    const told = toldOf(stream).flatMap(({ sid, sub }) => names.get(sid ?? sub ?? '') ?? []);
    expect(expected.filter((name) => !told.includes(name))).toEqual([]);
    // If all logins end, one by one as well does not matter. Otherwise the others stay.
    if (!expected.includes('user')) expect(new Set(told)).toEqual(new Set(expected));
    stream.destroy();
  });

  test('tells nothing of changes that end nothing', async () => {
    const stream = await open();
    const { user, first } = await visitor({ roles: ['editor'] });
    await settled(stream);
    const before = toldOf(stream).length;
    await admin('PATCH', `/users/${user.id}`, { roles: ['editor', 'reader'], name: 'Ada' });
    await postern.api('DELETE', '/v1/sessions', { bearer: first.session.token });
    await settled(stream);
    expect(toldOf(stream).slice(before)).toEqual([]);
    stream.destroy();
  });

  test('tells a key that is withdrawn, and not one that is replaced', async () => {
    const stream = await open();
    const { first } = await visitor();
    const kidOf = async () =>
      JSON.parse(
        Buffer.from((await ask(first.session.token)).body.access_token.split('.')[0] ?? '', 'base64url').toString(),
      ).kid as string;
    const rotate = (mode: 'now' | 'revoke') =>
      postern.database.transaction((tx) => rotateSigningKeys(tx, createSecretKeys([secret]), mode, { actor: 'cli' }));
    await rotate('now');
    const kid = await kidOf();
    await rotate('revoke');
    await settled(stream);
    expect(toldOf(stream).flatMap((told) => told.kid ?? [])).toEqual([kid]);
    expect(await kidOf()).not.toBe(kid);
    stream.destroy();
  });

  test('knows every column that a check of a session reads', async () => {
    const columnsOf = async (name: string) => {
      const rows = await postern.database.query<{ column: string }>(
        testSql(
          `select a.attname::text as column from pg_trigger t
             join pg_attribute a on a.attrelid = t.tgrelid and a.attnum = any (t.tgattr::int2[]) where t.tgname = $1`,
          [name],
        ),
      );
      return rows.map(({ column }) => column);
    };
    // They end no login, and remove no right: the id of a user never changes, and the others say how the user logged in.
    const others = ['epoch', 'authenticator', 'second_factor', 'approved_at', 'proven_at', 'proven_by'];
    // A login that ends earlier: its sessions end with it, which is a change of them, unless they end before it.
    for (const [table, ignored, withoutSession] of [
      ['user', ['id'], []],
      ['authentication', others, ['expires_at', 'idle_expires_at']],
    ] as const) {
      const told = await columnsOf(`revocation_of_${table}`);
      const checked = await columnsOf(`session_change_of_${table}`);
      expect(checked.length).toBeGreaterThan(5);
      // A token without a look-up relies on it: what the verifier keeps is forgotten with each revocation.
      expect(told.filter((column) => !checked.includes(column))).toEqual(withoutSession);
      expect(
        checked.filter((column) => !told.includes(column) && !(ignored as readonly string[]).includes(column)),
      ).toEqual([]);
    }
  });

  test('begins with the last 20 minutes, and after Last-Event-ID on any instance', async () => {
    const { first, second } = await visitor();
    await postern.api('DELETE', '/v1/tokens', { basic: first.token });
    const stream = await open();
    const { id: sid } = first.authentication;
    await settled(stream);
    expect(toldOf(stream).some((told) => told.sid === sid)).toBe(true);
    stream.destroy();
    await postern.api('DELETE', '/v1/tokens', { basic: second.token });
    const next = await open({ app: other, lastEventId: stream.lastEventId });
    await settled(next);
    expect(next.events.some(({ event }) => event === 'reset')).toBe(false);
    expect(toldOf(next).map((told) => told.sid)).toEqual([second.authentication.id]);
    next.destroy();
    await stepClock(postern.database, '21 minutes');
    const later = await open();
    await settled(later);
    expect(toldOf(later)).toEqual([]);
    later.destroy();
    await stepClock(postern.database, '0');
  });

  test('sends reset and the last 20 minutes for a position that it does not know', async () => {
    const { first } = await visitor();
    await postern.api('DELETE', '/v1/tokens', { basic: first.token });
    const known = await open();
    await settled(known);
    const [run, rest = ''] = known.lastEventId.split(/-(.*)/s);
    const old = `${known.lastEventId.split('~')[0]}~1`;
    for (const lastEventId of ['x', `${'0'.repeat(run?.length ?? 0)}-${rest}`, old]) {
      const stream = await open({ lastEventId });
      await settled(stream);
      expect(stream.events[0]?.event).toBe('reset');
      expect(toldOf(stream).some(({ sid }) => sid === first.authentication.id)).toBe(true);
      stream.destroy();
    }
    // The database has started anew while the stream was open.
    await postern.database.query(testSql('truncate event_feed_state'));
    await eventsOf(known, 'reset', 1);
    const { first: next } = await visitor();
    await postern.api('DELETE', '/v1/tokens', { basic: next.token });
    await settled(known);
    expect(toldOf(known).filter(({ sid }) => sid === first.authentication.id).length).toBe(2);
    expect(toldOf(known).some(({ sid }) => sid === next.authentication.id)).toBe(true);
    known.destroy();
  });

  test('tells a transaction that commits late, with a time after its commit', async () => {
    const stream = await open();
    const { user } = await visitor();
    const client = new pg.Client(postern.databaseEnv.DATABASE_URL);
    await client.connect();
    await client.query('begin');
    await client.query('update users set epoch = epoch + 1 where id = $1', [user.id]);
    await settled(stream);
    expect(toldOf(stream).some(({ sub }) => sub === user.id)).toBe(false);
    const { rows } = await client.query(
      'select to_char(clock_timestamp() at time zone \'UTC\', \'YYYY-MM-DD"T"HH24:MI:SS.US"Z"\') as now',
    );
    await client.query('commit');
    await client.end();
    const told = await eventually('the revocation', async () => toldOf(stream).find(({ sub }) => sub === user.id));
    expect(told.before > rows[0].now).toBe(true);
    stream.destroy();
  });

  test('beats with times of the database', async () => {
    const stream = await open({ app: other });
    const [first, second] = await beats(stream, 2);
    if (first === undefined || second === undefined) throw new Error('no beat');
    expect(first.through < first.now).toBe(true);
    expect(second.through > first.through).toBe(true);
    stream.destroy();
  });

  test('is only for keys with the scope sessions:verify, until they are revoked', async () => {
    expect((await open({ bearer: (await issueKey(['users:read'])).token })).status).toBe(403);
    const key = await issueKey(['sessions:verify']);
    const streams = await Promise.all([open({ bearer: key.token }), open({ bearer: key.token })]);
    expect(streams.map(({ status }) => status)).toEqual([200, 200]);
    await admin('DELETE', `/keys/${key.id}`);
    for (const stream of streams) expect(await endOf(stream)).toBe('ended');
    expect((await open({ bearer: key.token })).status).toBe(401);
  });

  test('opens 200 streams for each key', async () => {
    const { token: key } = await issueKey(['sessions:verify']);
    const streams = await Promise.all(Array.from({ length: 201 }, () => open({ bearer: key })));
    const refused = streams.filter(({ status }) => status === 429);
    expect([refused.length, refused[0]?.headers['retry-after']]).toEqual([1, '30']);
    for (const stream of streams) stream.destroy();
    await eventually('a free stream', async () => {
      const stream = await open({ bearer: key });
      stream.destroy();
      return stream.status === 200 ? true : undefined;
    });
  });
});

describe('an access token', () => {
  const payloadOf = async (token: string) => decodeJwt<{ roles: string[] }>((await ask(token)).body.access_token);

  test('after a revocation of its user is newer than the revocation, and older ones are not', async () => {
    const stream = await open();
    for (let round = 0; round < 3; round += 1) {
      const { user, first } = await visitor({ roles: ['editor'] });
      const before = await payloadOf(first.session.token);
      await admin('PATCH', `/users/${user.id}`, { roles: [] });
      const after = await payloadOf(first.session.token);
      const told = await eventually('the revocation', async () => toldOf(stream).find(({ sub }) => sub === user.id));
      const second = Math.floor(Date.parse(told.before) / 1000);
      expect([before.roles, after.roles]).toEqual([['editor'], []]);
      expect((before.iat ?? Number.POSITIVE_INFINITY) <= second && (after.iat ?? 0) > second).toBe(true);
    }
    stream.destroy();
  });

  test('has no role that a change removes meanwhile, unless the stream reports the change', async () => {
    const stream = await open();
    const round = async () => {
      const { user, first } = await visitor({ roles: ['editor'] });
      const asked = Array.from({ length: 4 }, () => payloadOf(first.session.token));
      await admin('PATCH', `/users/${user.id}`, { roles: [] });
      asked.push(payloadOf(first.session.token));
      const payloads = await Promise.all(asked);
      const told = await eventually('the revocation', async () => toldOf(stream).find(({ sub }) => sub === user.id));
      const second = Math.floor(Date.parse(told.before) / 1000);
      for (const { iat = 0, roles } of payloads) expect(roles.length === 0 || iat <= second).toBe(true);
      expect(payloads.at(-1)?.roles).toEqual([]);
    };
    await Promise.all(Array.from({ length: runs(8, 20) }, round));
    stream.destroy();
  });
});

test('without an audience nothing is written, and a logout beside the first audience is', async () => {
  const fresh = await startTestApp({ PUBLIC_URL: 'https://auth.example.com', SECRET_KEY: secret });
  const count = async () =>
    (await fresh.database.query<{ count: number }>(testSql('select count(*)::int as count from revocations')))[0]
      ?.count;
  const user = await createUser(fresh);
  const [first, second] = [await signIn(fresh, user), await signIn(fresh, user)];
  await fresh.api('DELETE', '/v1/tokens', { basic: first.token });
  expect(await count()).toBe(0);
  const client = new pg.Client(fresh.databaseEnv.DATABASE_URL);
  await client.connect();
  await client.query('begin');
  // As the creation of the first audience does.
  await client.query('select pg_advisory_xact_lock(7203415058)');
  await fresh.api('DELETE', '/v1/tokens', { basic: second.token });
  await client.query('rollback');
  await client.end();
  expect(await count()).toBe(1);
  await fresh.close();
});
