import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Event } from '../../../src/contract/administration.js';
import type { LoginDiagnosis } from '../../../src/contract/login-diagnosis/login-diagnosis.js';
import type { Notification } from '../../../src/contract/notification.js';
import type { User } from '../../../src/contract/user.js';
import type { ImportedLine } from '../../../src/contract/user-import.js';
import type { BulkLine } from '../../../src/contract/users/bulk.js';
import type { IssuedWebhook } from '../../../src/contract/webhooks.js';
import { createAdministration } from '../../support/administration.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { testSql } from '../../support/sql.js';
import { createUser } from '../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

const { admin, refused, eventsOf } = createAdministration(() => postern);
const newExternalId = () => `Crm|${randomUUID()}/ä b`;
const pathTo = (externalId: string) => `/users/${encodeURIComponent(`external:${externalId}`)}`;
const createWithExternalId = (external_id = newExternalId()) => createUser(postern, { external_id });
const linesOf = <Line>(text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
const ndjson = { headers: { 'content-type': 'application/x-ndjson' } };
const notification = { notification_type: 'payment', description: 'You were paid' };

describe('an external id', () => {
  test('is set, shown, changed and removed, and every change is recorded', async () => {
    const externalId = newExternalId();
    const user = await createWithExternalId(externalId);
    expect(user.external_id).toBe(externalId);
    const changed = await admin('PATCH', pathTo(externalId), { external_id: `${externalId}2` });
    expect([changed.status, changed.body.external_id]).toEqual([200, `${externalId}2`]);
    expect((await admin('GET', pathTo(externalId))).status).toBe(404);
    expect((await admin('PATCH', `/users/${user.id}`, { external_id: null })).body.external_id).toBeNull();
    expect((await admin('GET', pathTo(`${externalId}2`))).status).toBe(404);
    const changes = (await eventsOf(user.id)).flatMap((event) => event.changes ?? []);
    expect(changes.filter(({ field }) => field === 'external_id')).toEqual([
      expect.objectContaining({ before: null, after: externalId }),
      expect.objectContaining({ before: externalId, after: `${externalId}2` }),
      expect.objectContaining({ before: `${externalId}2`, after: null }),
    ]);
  });

  test('that another user has is refused with 409 and its field, and upper and lower case differ', async () => {
    const externalId = newExternalId();
    await createWithExternalId(externalId);
    const other = await createUser(postern);
    const taken = { status: 409, errors: [['external_id', 'identity_taken']] };
    expect(await refused('POST', '/users', { username: `u${Date.now()}`, external_id: externalId })).toEqual(taken);
    expect(await refused('PATCH', `/users/${other.id}`, { external_id: externalId })).toEqual(taken);
    expect((await admin('PATCH', `/users/${other.id}`, { external_id: externalId.toLowerCase() })).status).toBe(200);
    expect((await admin('GET', pathTo(externalId.toLowerCase()))).body.id).toBe(other.id);
  });

  test('is given to a user by exactly one of many parallel requests, and the others get 409', async () => {
    for (let round = 0; round < 3; round += 1) {
      const externalId = newExternalId();
      const users = await Promise.all(Array.from({ length: 4 }, () => createUser(postern)));
      const answers = await Promise.all([
        ...users.map(({ id }) => admin('PATCH', `/users/${id}`, { external_id: externalId })),
        ...users.map(() => admin('POST', '/users', { username: `race-${randomUUID()}`, external_id: externalId })),
      ]);
      const [winner, ...others] = answers.filter(({ status }) => status < 300);
      expect(others).toEqual([]);
      expect(answers.filter(({ status }) => status === 409)).toHaveLength(7);
      expect((await admin('GET', pathTo(externalId))).body.id).toBe(winner?.body.id);
    }
  });

  test.each([
    ['empty', '', 'required'],
    ['too long', 'x'.repeat(256), 'too_long'],
    ['with a line break', 'a\nb', 'invalid_identity'],
    ['with an invisible character', 'a\u200bb', 'invalid_identity'],
    ['with a space at its end', 'a ', 'invalid_identity'],
  ])('is refused: %s', async (_, external_id, code) => {
    const body = { username: `u${randomUUID()}`, external_id };
    expect(await refused('POST', '/users', body)).toEqual({ status: 422, errors: [['external_id', code]] });
  });

  test('is not an identity: logins refuse it, and a user needs an identity besides it', async () => {
    const { external_id } = await createWithExternalId();
    expect((await refused('POST', '/users', { external_id: newExternalId() })).errors).toEqual([
      [undefined, 'identity_required'],
    ]);
    const body = { identity: { type: 'external_id', value: external_id }, authenticator: 'password', secret: 'x' };
    expect((await postern.api('POST', '/v1/tokens', { body: { ...body, device: {} } })).status).toBe(422);
  });

  test('may have 255 characters', async () => {
    const externalId = `${randomUUID()}${'é'.repeat(219)}`;
    const { id } = await createWithExternalId(externalId);
    expect((await admin('GET', pathTo(externalId))).body.id).toBe(id);
  });

  test('and everything that is recorded about it is erased with the user', async () => {
    const externalId = newExternalId();
    const { id } = await createWithExternalId(externalId);
    expect((await admin('DELETE', pathTo(externalId))).status).toBe(204);
    expect((await admin('GET', pathTo(externalId))).status).toBe(404);
    await eventually('the values to be erased', async () => {
      const { body } = await admin<Event[]>('GET', `/events?filter=user_id:${id}`);
      return JSON.stringify(body).includes('Crm|') ? undefined : body;
    });
    const stored = testSql('select canonical from identities where canonical like $1', [`${externalId.slice(0, 20)}%`]);
    expect(await postern.database.query(stored)).toEqual([]);
    expect((await createWithExternalId(externalId)).id).not.toBe(id);
  });
});

describe('external:<external id>', () => {
  test('names the user in every path of a user', async () => {
    const externalId = newExternalId();
    const { id, username } = await createWithExternalId(externalId);
    const document = await postern.api<{ paths: Record<string, Record<string, unknown>> }>('GET', '/openapi.json');
    const paths = Object.keys(document.body.paths).filter((path) => path.startsWith('/admin/v1/users/{id}'));
    expect(paths.length).toBeGreaterThan(15);
    const readable = paths.filter((each) => 'get' in (document.body.paths[each] ?? {}));
    // One path also names something of the user, which this user does not have.
    for (const path of readable.filter((each) => !each.includes('{login_id}'))) {
      const rest = path.replace('/admin/v1/users/{id}', '');
      const [known, unknown] = [
        await admin('GET', pathTo(externalId) + rest),
        await admin('GET', pathTo('nobody') + rest),
      ];
      expect([path, known.status, unknown.status]).toEqual([path, 200, 404]);
    }
    expect((await admin('POST', `${pathTo(externalId)}/lock`, { permanent: true })).body.lock).not.toBeNull();
    expect((await admin('POST', `${pathTo(externalId)}/unlock`)).body).toMatchObject({ id, username, lock: null });
    expect((await admin('DELETE', `${pathTo(externalId)}/devices/${randomUUID()}`)).status).toBe(404);
  });

  test('does not show callers without a key whether the user exists', async () => {
    const externalId = newExternalId();
    await createWithExternalId(externalId);
    for (const name of [externalId, 'nobody']) {
      expect((await admin('GET', pathTo(name), undefined, { bearer: 'psk_x' })).status).toBe(401);
    }
  });

  test('names recipients of notifications: one, several, in a batch, in a dry run and in lines', async () => {
    const [ada, bob] = await Promise.all([createWithExternalId(), createWithExternalId()]);
    const [toAda, toBob] = [ada, bob].map(({ external_id }) => `external:${external_id}`);
    const one = await admin<Notification>('POST', '/notifications', { ...notification, user_id: toAda });
    expect([one.status, one.body.user_id]).toEqual([201, ada.id]);
    const several = { ...notification, user_ids: [toBob, ada.id] };
    const many = await admin<Notification[]>('POST', '/notifications', several);
    expect(many.body.map(({ user_id }) => user_id)).toEqual([bob.id, ada.id]);
    const batch = [{ ...notification, user_id: toBob }, several];
    const all = await admin<Notification[]>('POST', '/notifications/batch', batch);
    expect(all.body.map(({ user_id }) => user_id)).toEqual([bob.id, bob.id, ada.id]);
    const dryRun = await admin<{ deliveries: number }>('POST', '/notifications/dry-run', batch);
    expect(dryRun.status).toBe(200);
    const lines = [
      { ...notification, user_id: toAda },
      { ...notification, user_id: 'external:nobody' },
    ];
    const answer = await postern.api('POST', '/admin/v1/notifications/ndjson', {
      ...ndjson,
      bearer: postern.adminKey,
      body: lines.map((line) => JSON.stringify(line)).join('\n'),
    });
    expect(linesOf(answer.text)).toMatchObject([
      { line: 1, status: 201 },
      { line: 2, status: 422, errors: [{ field: 'user_id', code: 'unknown_user' }] },
    ]);
    const inbox = (await admin<Notification[]>('GET', `${pathTo(ada.external_id ?? '')}/notifications`)).body;
    expect(inbox).toHaveLength(4);
  });

  test('that no user has is reported at its position, with all other errors, and so is a user who is named twice', async () => {
    const { id, external_id } = await createWithExternalId();
    const known = `external:${external_id}`;
    const body = { ...notification, user_ids: [id, 'external:nobody', known, 'external:nobody'] };
    expect(await refused('POST', '/notifications', body)).toEqual({
      status: 422,
      errors: [
        ['user_ids.1', 'unknown_user'],
        ['user_ids.2', 'duplicate_items'],
        ['user_ids.3', 'duplicate_items'],
      ],
    });
    expect(await refused('POST', '/notifications', { ...notification, user_id: 'external:' })).toEqual({
      status: 422,
      errors: [['user_id', 'invalid_format']],
    });
  });

  test('with an idempotency key publishes once', async () => {
    const { id, external_id } = await createWithExternalId();
    const headers = { 'idempotency-key': randomUUID() };
    const body = { ...notification, user_id: `external:${external_id}` };
    const publish = () => admin<Notification>('POST', '/notifications', body, { headers });
    const [first, second] = [await publish(), await publish()];
    expect([first.body.id, second.headers['idempotent-replayed']]).toEqual([second.body.id, 'true']);
    expect((await admin<Notification[]>('GET', `/users/${id}/notifications`)).body).toHaveLength(1);
  });

  test('names users in a bulk action, and each line says which', async () => {
    const { id, external_id } = await createWithExternalId();
    const reference = `external:${external_id}`;
    const body = { action: 'deactivate', ids: [reference, id, 'external:nobody'] };
    const { text } = await admin('POST', '/users/bulk', body);
    expect(linesOf<BulkLine>(text)).toEqual([
      { id, reference, result: 'done' },
      { id: 'external:nobody', result: 'failed', errors: [expect.objectContaining({ code: 'not_found' })] },
      { summary: { done: 1, unchanged: 0, failed: 1, valid: 0, complete: true } },
    ]);
  });

  test('names the user of a login diagnosis', async () => {
    const { id, external_id } = await createWithExternalId();
    const identity = { type: 'external_id', value: external_id };
    const { body } = await admin<LoginDiagnosis>('POST', '/login-diagnosis', { identity });
    expect(body).toMatchObject({ user_id: id, identity: null, verdict: 'yes' });
    const unknown = { identity: { type: 'external_id', value: 'nobody' } };
    expect((await refused('POST', '/login-diagnosis', unknown)).errors).toEqual([['identity.value', 'unknown_user']]);
  });
});

describe('users with external ids', () => {
  test('are found by the whole external id, also if it looks like an id, and by a filter', async () => {
    const uuid = randomUUID();
    const [ada, bob] = [await createWithExternalId(), await createWithExternalId(uuid)];
    const found = async (query: string) => (await admin<User[]>('GET', `/users?${query}`)).body.map(({ id }) => id);
    const search = (text: string) => found(`search=${encodeURIComponent(text)}`);
    const externalId = ada.external_id ?? '';
    expect(await search(externalId)).toEqual([ada.id]);
    expect(await search(`external:${externalId}`)).toEqual([ada.id]);
    expect(await search(uuid)).toEqual([bob.id]);
    expect(await search(externalId.toUpperCase())).toEqual([]);
    const escaped = encodeURIComponent(externalId.replace('|', '\\|'));
    expect(await found(`filter=external_id:eq:${escaped}`)).toEqual([ada.id]);
    expect(await found(`filter=external_id:in:${escaped};${uuid}&sort=created_at:asc`)).toEqual([ada.id, bob.id]);
    expect(await found(`filter=external_id:${uuid},status:deactivated`)).toEqual([]);
  });

  test('are imported, once, and the export of a user contains the external id', async () => {
    const [first, second] = [newExternalId(), newExternalId()];
    const send = async (...lines: object[]) => {
      const body = lines.map((line) => JSON.stringify(line)).join('\n');
      return linesOf<ImportedLine>((await admin('POST', '/users/import', body, ndjson)).text);
    };
    const [email, other] = [`${randomUUID()}@example.com`, `${randomUUID()}@example.com`];
    const [created] = await send({ email, external_id: first });
    expect(created?.result).toBe('created');
    expect(await send({ email, external_id: first })).toMatchObject([{ result: 'exists', id: created?.id }]);
    expect(await send({ email: other, external_id: first }, { email: other, external_id: second })).toMatchObject([
      { result: 'failed', errors: [{ field: 'external_id', code: 'identity_taken' }] },
      { result: 'created' },
    ]);
    const exported = await admin<{ account: User }>('GET', `${pathTo(first)}/export`);
    expect(exported.body.account).toMatchObject({ id: created?.id, external_id: first });
  });
});

describe('an external id in a filter of user_id', () => {
  const filtered = (path: string, filter: string) =>
    admin<{ user_id: string }[]>('GET', `${path}?filter=${encodeURIComponent(filter)}`);
  const escapedIdOf = ({ external_id: name }: User) => String(name).replace(/[,|:;[\]\\]/g, '\\$&');

  test('selects the events of this user, alone, with others and negated', async () => {
    const [one, other] = [await createWithExternalId(), await createWithExternalId(`plain-${randomUUID()}`)];
    const usersOf = async (filter: string) => {
      const { body } = await filtered('/events', `${filter},type:user.created`);
      return new Set(body.map(({ user_id }) => user_id));
    };
    expect(await usersOf(`user_id:external:${other.external_id}`)).toEqual(new Set([other.id]));
    expect(await usersOf(`user_id:external:${escapedIdOf(one)}`)).toEqual(new Set([one.id]));
    for (const several of [
      `user_id:in:external:${escapedIdOf(one)};${other.id}`,
      `user_id:in:[external\\:${escapedIdOf(one)};external\\:${escapedIdOf(other)}]`,
      `user_id:eq:external:${escapedIdOf(other)}:external:${escapedIdOf(one)}`,
    ]) {
      expect(await usersOf(several)).toEqual(new Set([one.id, other.id]));
    }
    const rest = await usersOf(`user_id:neq:external:${escapedIdOf(one)}`);
    expect([rest.has(one.id), rest.has(other.id)]).toEqual([false, true]);
  });

  test('works in every list that shows users, and in the links between pages', async () => {
    const user = await createWithExternalId(`plain-${randomUUID()}`);
    for (const path of ['/events', '/outbox', '/test-identities', `/users/${user.id}/notifications`]) {
      const { status, headers } = await filtered(path, `user_id:external:${user.external_id}`);
      expect([path, status]).toEqual([path, 200]);
      expect(decodeURIComponent(headers.link ?? '')).toContain(`filter=user_id:${user.id}`);
    }
  });

  test('is stored in the filter of a webhook as the id of the user', async () => {
    const user = await createWithExternalId(`plain-${randomUUID()}`);
    const webhook = { url: 'https://example.com/', events: ['*'], filter: `user_id:external:${user.external_id}` };
    const { body } = await admin<IssuedWebhook>('POST', '/webhooks', webhook);
    expect(body.filter).toBe(`user_id:${user.id}`);
  });

  test('that nobody has is refused, and `external:` has no meaning in other fields', async () => {
    const unknown = { status: 422, errors: [['filter', 'unknown_user']] };
    expect(await refused('GET', '/events?filter=user_id:external:nobody')).toEqual(unknown);
    expect((await admin('GET', '/events?filter=actor:eq:external:nobody')).body).toEqual([]);
    const notAnId = { status: 422, errors: [['filter', 'unknown_filter_op']] };
    expect(await refused('GET', '/events?filter=user_id:internal:nobody')).toEqual(notAnId);
  });
});
