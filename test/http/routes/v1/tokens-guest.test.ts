import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Account, MergedGuest } from '../../../../src/contract/account/account.js';
import type { NewPasskey } from '../../../../src/contract/account/factors.js';
import type { Authentication } from '../../../../src/contract/authentication.js';
import type { Marker } from '../../../../src/contract/changes.js';
import type { Notification } from '../../../../src/contract/notification.js';
import type { User } from '../../../../src/contract/user.js';
import { guestExpiryTask } from '../../../../src/users/guest-expiry.js';
import { byPassword, codeTo, createSelfService } from '../../../support/account.js';
import { createAdministration } from '../../../support/administration.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { originOf } from '../../../support/factors.js';
import { clientId, type Issuer, startIssuer } from '../../../support/issuer.js';
import { signInWithRole } from '../../../support/operators.js';
import { raceRounds } from '../../../support/rounds.js';
import { type CreationOptions, makePasskey } from '../../../support/software-authenticator.js';
import { testSql } from '../../../support/sql.js';
import { logInAs } from '../../../support/support-logins.js';
import { createUser, newEmail, newPhone } from '../../../support/users.js';

/** Guests: users without a credential, and how they become users or join an account. */

let attic: Issuer;
let postern: TestApp;
beforeAll(async () => {
  attic = await startIssuer();
  postern = await startTestApp(
    {
      ...{ ALLOW_PRIVATE_NETWORK_TARGETS: 'true' },
      OIDC_PROVIDERS: JSON.stringify({ attic: { issuer: attic.url, client_ids: [clientId] } }),
      ...{ GUESTS: 'on', TRUST_PROXY: '127.0.0.1', LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0' },
      ...{ PIN_POLICY: 'optional' },
    },
    // Thirty requests wait for one row, on a busy machine for a long time.
    { queryTimeout: 60_000 },
  );
});
afterAll(async () => {
  await postern.close();
  await attic.close();
});

const { admin, eventsOf } = createAdministration(() => postern);
const { person } = createSelfService(() => postern);

interface Guest {
  readonly id: string;
  readonly token: string;
  readonly bearer: string;
}
let lastAddress = 0;
/** Each guest comes from another address. */
const from = () => {
  lastAddress += 1;
  return { 'x-forwarded-for': `10.7.${lastAddress >> 8}.${lastAddress & 255}` };
};
const enter = (headers = from(), device: object = {}, on: TestApp = postern) =>
  on.api<Authentication & Pick<ProblemAnswer, 'errors'>>('POST', '/v1/tokens', {
    body: { authenticator: 'guest', device },
    headers,
  });
async function guest(): Promise<Guest> {
  const { status, body } = await enter();
  expect([status, body.status]).toEqual([201, 'approved']);
  const session = await postern.api<{ token: string }>('POST', '/v1/sessions', { basic: body.token ?? '' });
  return { id: body.user_id ?? '', token: body.token ?? '', bearer: session.body.token };
}
const accountOf = async (bearer: string) => (await postern.api<Account>('GET', '/v1/account', { bearer })).body;
const publish = (user_id: string, description: string) =>
  admin<Notification>('POST', '/notifications', { user_id, notification_type: 'payment', description });
const listOf = async (bearer: string, query = '') =>
  (await postern.api<Notification[]>('GET', `/v1/notifications?limit=100${query}`, { bearer })).body;
const markerOf = async (bearer: string) =>
  (await postern.api<Marker>('GET', '/v1/notifications/marker', { bearer })).body;
const readUntil = (bearer: string, last_read_sequence: number) =>
  postern.api('PUT', '/v1/notifications/marker', { bearer, body: { last_read_sequence } });
const merge = ({ bearer }: { readonly bearer: string }, token: string) =>
  postern.api<MergedGuest & ProblemAnswer>('PUT', '/v1/account/guest', { bearer, body: { token } });

test('a guest is a user without credentials, who gets notifications', async () => {
  const { id, bearer } = await guest();
  expect(await accountOf(bearer)).toMatchObject({
    id,
    is_guest: true,
    username: null,
    email: null,
    has_password: false,
  });
  const user = (await admin<User>('GET', `/users/${id}`)).body;
  expect(user).toMatchObject({ is_guest: true, role: 'user' });
  expect((await admin<User[]>('GET', '/users?filter=is_guest:eq:true')).body.map((one) => one.id)).toContain(id);
  await publish(id, 'welcome');
  expect((await listOf(bearer)).map(({ description }) => description)).toEqual(['welcome']);
  expect((await eventsOf(id)).map(({ type }) => type)).toEqual(
    expect.arrayContaining(['user.created', 'login.approved']),
  );
});

test('an address makes 20 guests an hour, also with parallel requests', async () => {
  const headers = from();
  const answers = await Promise.all(Array.from({ length: 30 }, () => enter(headers)));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(10);
  for (const { headers } of refused) expect(Number(headers['retry-after'])).toBeGreaterThan(0);
});

test('without GUESTS there is no such authenticator', async () => {
  const off = await postern.another({ GUESTS: 'off' });
  try {
    const answer = await enter(from(), {}, off);
    expect([answer.status, answer.body.errors.map(({ code }) => code)]).toEqual([
      422,
      expect.arrayContaining(['unknown_authenticator']),
    ]);
    const options = await off.api<{ guests: object }>('GET', '/v1/login-options');
    expect(options.body.guests).toEqual({ is_on: false });
  } finally {
    await off.close();
  }
});

describe('the first credential needs no proof, and ends that the user is a guest', () => {
  test('a mail address', async () => {
    const { id, bearer } = await guest();
    const email = newEmail();
    const begun = await postern.api<{ id: string }>('POST', '/v1/account/email', { bearer, body: { email } });
    expect(begun.status).toBe(201);
    const body = { secret: await codeTo(postern, email) };
    const confirmed = await postern.api<Account>('POST', `/v1/account/email/${begun.body.id}`, { bearer, body });
    expect(confirmed.body).toMatchObject({ id, email, is_guest: false });
    // From now on, changes need a proof.
    const next = await postern.api<ProblemAnswer>('POST', '/v1/account/email', { bearer, body: { email: newEmail() } });
    expect([next.status, next.body.errors.map(({ field, code }) => `${field} ${code}`)]).toEqual([
      422,
      ['proof required'],
    ]);
  });

  test('a passkey, which then logs in', async () => {
    const { id, bearer } = await guest();
    const begun = await postern.api<NewPasskey>('POST', '/v1/account/passkeys', { bearer, body: {} });
    const { authenticator, response } = makePasskey(
      begun.body.options as unknown as CreationOptions,
      originOf(postern),
    );
    const path = `/v1/account/passkeys/${begun.body.id}`;
    expect((await postern.api('POST', path, { bearer, body: { response } })).status).toBe(201);
    expect((await accountOf(bearer)).is_guest).toBe(false);
    const login = await postern.api<{ id: string; challenge: object }>('POST', '/v1/tokens', {
      body: { authenticator: 'passkey', device: {} },
    });
    const secret = authenticator.sign(login.body.challenge);
    const approved = await postern.api<Authentication>('POST', `/v1/tokens/${login.body.id}/secret`, {
      body: { secret },
    });
    expect(approved.body.user_id).toBe(id);
  });

  test('an account at a provider', async () => {
    const { bearer } = await guest();
    const path = '/v1/account/external-identities/attic';
    const begun = await postern.api<{ id: string; challenge: { nonce: string } }>('POST', path, { bearer, body: {} });
    const secret = await attic.sign({ nonce: begun.body.challenge.nonce, sub: randomUUID() });
    const linked = await postern.api('POST', `${path}/${begun.body.id}`, { bearer, body: { secret } });
    expect(linked.status).toBe(200);
    expect((await accountOf(bearer)).is_guest).toBe(false);
  });

  test('one of two parallel first credentials that began without a proof', async () => {
    const { bearer } = await guest();
    const [email, phone] = [newEmail(), newPhone()];
    const begin = (type: string, value: string) =>
      postern.api<{ id: string }>('POST', `/v1/account/${type}`, { bearer, body: { [type]: value } });
    const mail = await begin('email', email);
    await postern.database.query(testSql('delete from message_limits'));
    const number = await begin('phone', phone);
    const confirm = async (type: string, id: string, value: string) =>
      postern.api<Account>('POST', `/v1/account/${type}/${id}`, {
        bearer,
        body: { secret: await codeTo(postern, value) },
      });
    const answers = await Promise.all([confirm('email', mail.body.id, email), confirm('phone', number.body.id, phone)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect((await accountOf(bearer)).is_guest).toBe(false);
  });

  test('ends every other change that the guest began without a proof', async () => {
    const { bearer } = await guest();
    const [email, phone] = [newEmail(), newPhone()];
    const begin = async <T extends object>(path: string, body: object) =>
      (await postern.api<T & { id: string }>('POST', `/v1/account/${path}`, { bearer, body })).body;
    const number = await begin('phone', { phone });
    const passkey = await begin<NewPasskey>('passkeys', {});
    const account = await begin<{ challenge: { nonce: string } }>('external-identities/attic', {});
    await postern.database.query(testSql('delete from message_limits'));
    const mail = await begin('email', { email });
    const answer = async (path: string, body: object) =>
      (await postern.api('POST', `/v1/account/${path}`, { bearer, body })).status;
    expect(await answer(`email/${mail.id}`, { secret: await codeTo(postern, email) })).toBe(200);
    const { response } = makePasskey(passkey.options as unknown as CreationOptions, originOf(postern));
    const idToken = await attic.sign({ nonce: account.challenge.nonce, sub: randomUUID() });
    expect([
      await answer(`phone/${number.id}`, { secret: await codeTo(postern, phone) }),
      await answer(`passkeys/${passkey.id}`, { response }),
      await answer(`external-identities/attic/${account.id}`, { secret: idToken }),
    ]).toEqual([400, 400, 400]);
    expect(await accountOf(bearer)).toMatchObject({ email, phone: null, second_factors: [] });
  });

  test('but other users need one, and a guest cannot do the rest without', async () => {
    const { bearer } = await person();
    for (const [path, body] of [
      ['/email', { email: newEmail() }],
      ['/phone', { phone: newPhone() }],
      ['/passkeys', {}],
    ] as const)
      expect((await postern.api('POST', `/v1/account${path}`, { bearer, body })).status).toBe(422);
    const stranger = await guest();
    for (const [method, path, body] of [
      ['PUT', '/password', { password: 'nine dull horses' }],
      ['POST', '/totp', {}],
      ['PATCH', '', { username: `u${randomUUID().slice(0, 8)}` }],
    ] as const)
      expect((await postern.api(method, `/v1/account${path}`, { bearer: stranger.bearer, body })).status).toBe(422);
  });
});

describe('a merge', () => {
  test('moves the inbox to the end, keeps what was read, and ends the guest', async () => {
    const { id, token, bearer } = await guest();
    for (const text of ['read 1', 'read 2', 'unread']) await publish(id, text);
    await readUntil(bearer, (await listOf(bearer))[1]?.sequence ?? 0);
    const who = await person();
    await publish(who.user.id, 'own');
    await readUntil(who.bearer, (await listOf(who.bearer))[0]?.sequence ?? 0);
    const { status, body } = await merge(who, token);
    expect([status, body]).toEqual([200, { id, moved: 3 }]);
    const all = await listOf(who.bearer, '&sort=created_at:desc');
    expect(all.map(({ description }) => description)).toEqual(['unread', 'read 2', 'read 1', 'own']);
    for (const { user_id } of all) expect(user_id).toBe(who.user.id);
    const times = all.map(({ created_at }) => created_at);
    expect(times).toEqual([...times].sort().reverse());
    expect((await markerOf(who.bearer)).unread_count).toBe(1);
    expect((await admin('GET', `/users/${id}`)).status).toBe(404);
    expect((await postern.api('POST', '/v1/sessions', { basic: token })).status).toBe(401);
    expect((await postern.api('GET', '/v1/account', { bearer })).status).toBe(401);
    expect((await eventsOf(who.user.id)).find(({ type }) => type === 'guest.merged')?.data).toMatchObject({
      guest_id: id,
    });
    const changes = await postern.api<{ changes: unknown[] }>('GET', '/v1/notifications/changes?after=0', {
      bearer: who.bearer,
    });
    expect(changes.status).toBe(200);
  });

  test.each([true, false])(
    'keeps what was read and archived, if the account has read everything: %s',
    async (hasRead) => {
      const { id, token, bearer } = await guest();
      for (const text of ['read', 'marked as unread', 'archived', 'unread', 'marked as read']) await publish(id, text);
      const [marked, , archived, unread] = await listOf(bearer);
      await readUntil(bearer, archived?.sequence ?? 0);
      const change = (ids: unknown[], values: object) =>
        postern.api('PATCH', '/v1/notifications/states', { bearer, body: { ids, ...values } });
      await change([marked?.id], { read: true });
      await change([unread?.id], { read: false });
      await change([archived?.id], { archived: true, read: false });
      const who = await person();
      await publish(who.user.id, 'own');
      if (hasRead) await readUntil(who.bearer, (await listOf(who.bearer))[0]?.sequence ?? 0);
      expect((await merge(who, token)).status).toBe(200);
      // 'marked as unread' and 'unread'; 'archived' is not counted.
      expect((await markerOf(who.bearer)).unread_count).toBe(hasRead ? 2 : 3);
      const { body } = await postern.api<{ states: unknown[] }>('GET', '/v1/notifications/states', {
        bearer: who.bearer,
      });
      expect(body.states).toContainEqual(expect.objectContaining({ id: archived?.id, archived: true, read: false }));
    },
  );

  test('happens once for 10 parallel requests', async () => {
    const { id, token } = await guest();
    for (let n = 0; n < 5; n += 1) await publish(id, `${n}`);
    const who = await person();
    const answers = await Promise.all(Array.from({ length: 10 }, () => merge(who, token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 400)]);
    expect(await listOf(who.bearer)).toHaveLength(5);
    expect((await markerOf(who.bearer)).unread_count).toBe(5);
  });

  test('of two accounts at the same time, one gets the inbox', async () => {
    const { id, token } = await guest();
    await publish(id, 'only one');
    const [one, other] = [await person(), await person()];
    const answers = await Promise.all([merge(one, token), merge(other, token)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect((await listOf(one.bearer)).length + (await listOf(other.bearer)).length).toBe(1);
  });

  test('of two guests with each other, one remains with everything', async () => {
    const [one, other] = [await guest(), await guest()];
    await publish(one.id, 'of one');
    await publish(other.id, 'of the other');
    const answers = await Promise.all([merge(one, other.token), merge(other, one.token)]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const left = answers[0]?.status === 200 ? one : other;
    expect(await listOf(left.bearer)).toHaveLength(2);
  });

  test.each(Array.from({ length: raceRounds }, (_, round) => [round + 1] as const))(
    'loses and doubles nothing that is published meanwhile (round %i)',
    async () => {
      const { id, token } = await guest();
      const who = await person();
      await publish(id, 'before');
      const texts = Array.from({ length: 12 }, (_, n) => `meanwhile ${n}`);
      const [merged, ...published] = await Promise.all([
        merge(who, token),
        ...texts.map((text, n) => publish(n % 3 === 0 ? who.user.id : id, text)),
      ]);
      expect(merged.status).toBe(200);
      const accepted = texts.filter((_, n) => published[n]?.status === 201);
      for (const [n, { status }] of published.entries())
        expect([n % 3, status]).toEqual([n % 3, n % 3 === 0 ? 201 : status]);
      const seen = await listOf(who.bearer);
      expect(seen.map(({ description }) => description).sort()).toEqual(['before', ...accepted].sort());
      expect((await markerOf(who.bearer)).unread_count).toBe(accepted.length + 1);
      const sequences = seen.map(({ sequence }) => sequence);
      expect(new Set(sequences).size).toBe(sequences.length);
    },
  );

  test('moves large inboxes, and pages by number stay right', async () => {
    const count = 12_000;
    const { id, token } = await guest();
    const who = await person();
    for (const user of [id, who.user.id])
      await postern.database.query(
        testSql(
          `with inbox as (
             update inboxes set last_change_sequence = $2, total = $2, last_time = db_now(), counted_blocks = 0
             where user_id = $1)
           insert into notifications (user_id, id, sequence, change_sequence, notification_type, description, created_at, updated_at)
           select $1, gen_random_uuid(), n, n, case n % 3 when 0 then 'payment' else 'pool' end, $1::text || ' ' || n,
                  db_now() - interval '1 day' + n * interval '1 microsecond',
                  db_now() - interval '1 day' + n * interval '1 microsecond'
           from generate_series(1, $2::int) n`,
          [user, count],
        ),
      );
    const { status, body } = await merge(who, token);
    expect([status, body.moved]).toEqual([200, count]);
    const page = async (number: number, query = '') =>
      (
        await postern.api<Notification[]>(
          'GET',
          `/v1/notifications?limit=100&sort=created_at:asc&page=${number}${query}`,
          { bearer: who.bearer },
        )
      ).body;
    expect((await page(1))[0]?.description).toBe(`${who.user.id} 1`);
    expect((await page(121))[0]?.description).toBe(`${id} 1`);
    expect((await page(240)).at(-1)?.description).toBe(`${id} ${count}`);
    const [row] = await postern.database.query<{ rows: number; sequences: number; total: number }>(
      testSql(
        `select count(*)::int as rows, count(distinct sequence)::int as sequences,
                (select total::int from inboxes where user_id = $1) as total
         from notifications where user_id = $1`,
        [who.user.id],
      ),
    );
    expect(row).toEqual({ rows: 2 * count, sequences: 2 * count, total: 2 * count });
  });

  test('refuses every other token, and oneself', async () => {
    const one = await guest();
    const who = await person();
    const { body: own } = await postern.api<Authentication>('POST', '/v1/tokens', {
      body: {
        identity: { type: 'username', value: who.user.username },
        authenticator: 'password',
        secret: byPassword.secret,
        device: {},
      },
    });
    const another = await person();
    const { token: ended } = await guest();
    await postern.api('DELETE', '/v1/tokens', { basic: ended });
    const grown = await guest();
    await admin('PATCH', `/users/${grown.id}`, { email: newEmail() });
    const cut = one.token.slice(0, -1);
    for (const token of [own.token ?? '', who.bearer, one.bearer, postern.adminKey, ended, grown.token, cut, 'x']) {
      const { status, body } = await merge(who, token);
      expect([status, body.errors[0]?.code]).toEqual([400, 'guest_rejected']);
    }
    expect((await merge(one, one.token)).status).toBe(400);
    expect((await merge({ bearer: another.bearer }, one.token)).status).toBe(200);
    expect((await postern.api('PUT', '/v1/account/guest', { body: { token: one.token } })).status).toBe(401);
  });

  test('are refused for the token of a support login, with which an operator would take the guest over', async () => {
    const operator = await signInWithRole(postern, 'operator');
    const [one, who] = [await guest(), await person()];
    for (const write of [false, true]) {
      const { token } = await logInAs(postern, operator, one.id, { write });
      const { status, body } = await merge(who, token);
      expect([status, body.errors[0]?.code]).toEqual([400, 'guest_rejected']);
    }
    expect((await accountOf(one.bearer)).id).toBe(one.id);
  });
});

test('a guest who was not used for 90 days is deleted, and no other user is', async () => {
  const [unused, used, grown] = [await guest(), await guest(), await guest()];
  await admin('PATCH', `/users/${grown.id}`, { email: newEmail() });
  const user = await createUser(postern);
  const age = (id: string, days: number, uses: boolean) =>
    postern.database.query(
      testSql(
        `with u as (update users set created_at = created_at - $2 * interval '1 day' where id = $1),
              d as (update devices set last_login_at = last_login_at - $2 * interval '1 day' where user_id = $1)
         update sessions set created_at = created_at - $2 * interval '1 day'
         where user_id = $1 and $3::boolean`,
        [id, days, uses],
      ),
    );
  await age(unused.id, 91, true);
  await age(grown.id, 91, true);
  await age(user.id, 91, true);
  // Its login is old, and its session is not.
  await age(used.id, 91, false);
  await postern.database.transaction((tx) => guestExpiryTask.step(tx, undefined));
  const statuses = [];
  for (const id of [unused.id, used.id, grown.id, user.id]) statuses.push((await admin('GET', `/users/${id}`)).status);
  expect(statuses).toEqual([404, 200, 200, 200]);
});

test('a guest uploads ten images at most, and more after the first credential', async () => {
  const { id, bearer } = await guest();
  const insert = `insert into images (id, user_id, check_after, created_at, updated_at)
    select gen_random_uuid(), $1, db_now() + interval '1 day', at, at
    from generate_series(1, 10), (select db_now() - $2 * interval '1 minute' as at) t`;
  const send = async () => {
    const body = { encoded: Buffer.from('no image').toString('base64') };
    const answer = await postern.api<ProblemAnswer>('POST', '/v1/images', { bearer, body });
    return answer.body.errors[0]?.code;
  };
  expect(await send()).toBe('invalid_image');
  await postern.database.query(testSql(insert, [id, 90]));
  expect(await send()).toBe('too_many_images');
  await postern.database.query(testSql('update images set created_at = db_now() where user_id = $1', [id]));
  await postern.database.query(
    testSql('delete from images where id = (select id from images where user_id = $1 limit 1)', [id]),
  );
  expect(await send()).toBe('invalid_image');
  await postern.database.query(testSql(insert, [id, 90]));
  await postern.database.query(testSql('update users set is_guest = false where id = $1', [id]));
  expect(await send()).toBe('invalid_image');
});
