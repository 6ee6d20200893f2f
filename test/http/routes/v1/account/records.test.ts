import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ActivityEntry } from '../../../../../src/contract/account/activity.js';
import { byPassword, createSelfService } from '../../../../support/account.js';
import { createAdministration } from '../../../../support/administration.js';
import { startTestApp, type TestApp } from '../../../../support/app.js';
import { eventually } from '../../../../support/eventually.js';
import { testSql } from '../../../../support/sql.js';
import { passwordLogin } from '../../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0' });
});
afterAll(() => postern.close());

const { person, ask } = createSelfService(() => postern);
const { admin } = createAdministration(() => postern);
const activityOf = async (who: { bearer: string }, query = '') =>
  (await ask<ActivityEntry[]>(who, 'GET', `/activity${query}`)).body;

describe('the activity', () => {
  test('lists events with actor, address and device, newest first', async () => {
    const who = await person();
    await ask(who, 'PUT', '/pin', { pin: '2468', proof: byPassword });
    await admin('PATCH', `/users/${who.user.id}`, { name: 'Ada', locale: 'es' });
    const [renamed, pin, login, created] = await activityOf(who);
    const device_id = who.deviceId;
    expect(renamed).toMatchObject({ type: 'user.changed', by: 'operator', address: null, device_id: null });
    expect(renamed?.text).toBe('The account was changed: name, locale.');
    expect(pin).toMatchObject({ type: 'user.pin_changed', by: 'user', address: '127.0.0.1' });
    expect(login).toMatchObject({ type: 'login.approved', by: 'user', device_id, text: 'You signed in.' });
    expect(created).toMatchObject({ type: 'user.created', by: 'operator' });
    expect(Object.keys(login ?? {})).toEqual([
      'id',
      'type',
      'text',
      'params',
      'by',
      'device_id',
      'address',
      'created_at',
    ]);
  });

  test('uses the language that the client prefers', async () => {
    const who = await person();
    const { body } = await postern.api<ActivityEntry[]>('GET', '/v1/account/activity', {
      ...{ bearer: who.bearer, headers: { 'accept-language': 'es' } },
    });
    expect(body[0]?.text).toBe('Has iniciado sesión.');
  });

  test('is paged and filtered like other lists, and holds only the user’s own events', async () => {
    const who = await person();
    const other = await person();
    for (let n = 0; n < 3; n += 1)
      await postern.api('POST', '/v1/tokens', { body: passwordLogin(who.user.username, 'x') });
    const page = await ask<ActivityEntry[]>(who, 'GET', '/activity?limit=2&filter=type:login.rejected');
    expect(page.body.map(({ type }) => type)).toEqual(['login.rejected', 'login.rejected']);
    expect(page.headers['x-total-count']).toBe('3');
    expect(page.headers.link).toContain('</v1/account/activity?');
    expect((await activityOf(other)).map(({ type }) => type)).toEqual(['login.approved', 'user.created']);
    for (const query of ['?filter=actor:user', '?filter=address:127.0.0.1', '?sort=address', '?limit=101']) {
      expect((await ask(who, 'GET', `/activity${query}`)).status).toBe(422);
    }
  });
});

type Export = Record<string, Record<string, unknown>[]> & { account: Record<string, unknown> };

async function publish(userId: string): Promise<void> {
  const notification = { notification_type: 'pool', description: 'A pool "opened"\n', object_data_number: 12.5 };
  const body = Array.from({ length: 3 }, () => ({ user_id: userId, ...notification }));
  await postern.api('POST', '/admin/v1/notifications', { bearer: postern.adminKey, body });
}

/** Fills an inbox beyond its most recent rows, directly in the database. */
async function fill(userId: string, count: number, size: number): Promise<void> {
  await postern.database.query(
    testSql(
      `insert into notifications (user_id, id, sequence, change_sequence, notification_type, description,
                                        created_at, updated_at)
             select $1, gen_random_uuid(), n, n, 'pool', repeat('x', $3), db_now(), db_now()
             from generate_series(1, $2::int) n`,
      [userId, count, size],
    ),
  );
}

describe('the export', () => {
  test('holds all data of the user and no secret', async () => {
    const who = await person({ name: 'Ada "the first"', metadata: { plan: 'gold' } });
    await publish(who.user.id);
    await ask(who, 'POST', '/proofs', { type: 'sms' });
    await postern.api('PUT', '/v1/notifications/marker', { bearer: who.bearer, body: { last_read_sequence: 2 } });
    const archived = { filter: 'sequence:3', through: 3, archived: true };
    await postern.api('PATCH', '/v1/notifications/states', { bearer: who.bearer, body: archived });
    await admin('POST', `/users/${who.user.id}/lock`, { until: '2999-01-01T00:00:00Z', reason: 'suspected fraud' });
    await admin('POST', `/users/${who.user.id}/unlock`);
    const linked = `insert into external_identities values (sha256('x'), $1, gen_random_uuid(), 'google', 'https://x.example', 'subject-1', db_now())`;
    await postern.database.query(testSql(linked, [who.user.id]));
    const enrolled = `insert into passkeys values ($1, gen_random_uuid(), 'credential', 'public key', 0, '{usb}', 'Key ring', false, db_now())`;
    await postern.database.query(testSql(enrolled, [who.user.id]));
    const answer = await ask<Export>(who, 'GET', '/export');
    const { body, headers, text } = answer;
    expect(headers['content-disposition']).toBe(`attachment; filename="account-${who.user.id}.json"`);
    expect(headers['cache-control']).toBe('no-store');
    expect(body.account).toMatchObject({ id: who.user.id, name: 'Ada "the first"', metadata: { plan: 'gold' } });
    expect(body.devices).toMatchObject([{ id: who.deviceId }]);
    expect(body.logins).toMatchObject([{ id: who.authenticationId, status: 'approved' }]);
    expect(body.sessions).toHaveLength(1);
    expect(body.passkeys).toMatchObject([{ name: 'Key ring', transports: ['usb'] }]);
    expect(body.external_identities).toMatchObject([{ provider: 'google', subject: 'subject-1' }]);
    expect(body.messages).toMatchObject([{ recipient: who.user.phone, kind: 'sms.proof_code' }]);
    expect(body.notifications?.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    expect(body.notifications?.[0]).toMatchObject({ description: 'A pool "opened"\n', object_data_number: 12.5 });
    expect(body.markers).toMatchObject([{ last_read_sequence: 2 }]);
    expect(body.notification_states).toMatchObject([{ sequence: 3, is_read: null, is_archived: true }]);
    const locked = body.activity?.find(({ type }) => type === 'user.locked');
    expect(locked).toMatchObject({ by: 'operator', address: null, data: {} });
    expect(text).not.toMatch(/argon2|digest(?!s")|sealed|hash|suspected fraud|key:/);
  });

  test('is the same for operators, who need the read scope', async () => {
    const who = await person();
    const own = await ask<Export>(who, 'GET', '/export');
    const forOperator = await admin<Export>('GET', `/users/${who.user.id}/export`);
    expect(forOperator.status).toBe(200);
    expect(forOperator.body).toEqual(own.body);
    expect((await admin('GET', `/users/${who.bearer}/export`)).status).toBe(404);
    expect((await admin('GET', '/users/582a5abb-1335-4794-4855-11e067b8c55e/export')).status).toBe(404);
    const { body: key } = await admin<{ token: string }>('POST', '/keys', { name: 'w', scopes: ['users:write'] });
    const refused = await postern.api('GET', `/admin/v1/users/${who.user.id}/export`, { bearer: key.token });
    expect(refused.status).toBe(403);
  });

  test('of a large inbox is complete and in order, and delays no other requests', async () => {
    const who = await person();
    const count = 12_000;
    await fill(who.user.id, count, 100);
    let isComplete = false;
    const exported = ask<Export>(who, 'GET', '/export').finally(() => {
      isComplete = true;
    });
    // One after the other: many at a time would also wait for each other, in the queue of the user.
    while (!isComplete) expect((await ask(who, 'GET', '')).status).toBe(200);
    const answer = await exported;
    const sequences = answer.body.notifications?.map(({ sequence }) => sequence);
    expect(sequences).toEqual(Array.from({ length: count }, (_, n) => n + 1));
  });

  test('reads only as fast as its client, refuses a second export, and aborts when the session ends', async () => {
    const who = await person();
    await fill(who.user.id, 15_000, 4000);
    const { hostname, port } = new URL(postern.url);
    const socket = connect(Number(port), hostname);
    const chunks: Buffer[] = [];
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.on('error', () => undefined);
    socket.write(`GET /v1/account/export HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${who.bearer}\r\n\r\n`);
    await new Promise<void>((resolve) =>
      socket.once('data', (chunk) => {
        chunks.push(chunk);
        socket.pause();
        resolve();
      }),
    );
    const isWaiting = async () => {
      const [row] = await postern.database.query<{ calls: number }>(
        testSql(`select count(*)::int as calls from pg_stat_activity where datname = current_database()
          and query like '%keyset_position%' and state = 'active' and pid <> pg_backend_pid()`),
      );
      return row?.calls === 0 ? true : undefined;
    };
    await eventually('the export to wait for its reader', isWaiting);
    expect((await ask(who, 'GET', '/export')).status).toBe(429);
    expect((await admin('POST', `/users/${who.user.id}/logout`)).status).toBe(200);
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.resume();
    await closed;
    const text = Buffer.concat(chunks).toString('utf8');
    expect(text).toMatch(/^HTTP\/1\.1 200 OK/);
    // The last chunk of a complete response is empty.
    expect(text.endsWith('0\r\n\r\n')).toBe(false);
    expect(Buffer.byteLength(text)).toBeLessThan(15_000 * 4000);
    expect((await admin('GET', `/users/${who.user.id}/export`)).status).toBe(200);
  });
});
