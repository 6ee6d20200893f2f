import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IssuedApiKey } from '../../../../../src/contract/administration.js';
import type { PageInfo } from '../../../../../src/contract/common.js';
import type { User } from '../../../../../src/contract/user.js';
import { createAdministration } from '../../../../support/administration.js';
import { startTestApp, type TestApp } from '../../../../support/app.js';
import { signInWithRole } from '../../../../support/operators.js';
import { testSql } from '../../../../support/sql.js';
import { createUser, signIn } from '../../../../support/users.js';

interface UserPage {
  readonly data: User[];
  readonly page: PageInfo;
}

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

const { admin, refused } = createAdministration(() => postern);
const search = async (text: string, more = '') =>
  (await admin<User[]>('GET', `/users?search=${encodeURIComponent(text)}${more}`)).body.map(({ id }) => id);

describe('searching users', () => {
  test('finds parts of each value, and the id of a device', async () => {
    const user = await createUser(postern, { name: 'Ágnes Ω Wünsche', email: `w.${randomUUID()}@Example.com` });
    const { authentication } = await signIn(postern, user, { id: randomUUID() });
    const parts = ['ÁGNES', 'nes ω w', user.email?.slice(5, 20) ?? '', user.username?.toUpperCase() ?? '', user.id];
    for (const part of [...parts, authentication.device_id]) expect(await search(part)).toEqual([user.id]);
    const [found] = (await admin<User[]>('GET', `/users?search=${user.id}`)).body;
    expect(found?.last_login_at).toMatch(/Z$/);
  });

  test('finds the subject and the mail address of a linked account at a provider, with an index', async () => {
    const [user, other] = [await createUser(postern), await createUser(postern)];
    const subject = `Sub.${randomUUID()}`;
    const email = `ada.${randomUUID()}@example.com`;
    const values = `insert into external_identities (digest, user_id, id, provider, issuer, subject, email, created_at)
                    values (sha256($3::bytea), $1, gen_random_uuid(), 'google', 'https://accounts.google.com', $2, $4, db_now())`;
    await postern.database.query(testSql(values, [user.id, subject, Buffer.from(subject), email]));
    const second = `${subject}2`;
    await postern.database.query(testSql(values, [other.id, second, Buffer.from(second), email]));
    expect(await search(subject)).toEqual([user.id]);
    expect((await search(email.toUpperCase())).toSorted()).toEqual([user.id, other.id].toSorted());
    // Subjects are whole, and tell upper from lower case.
    expect(await search(subject.slice(0, -1))).toEqual([]);
    expect(await search(subject.toLowerCase())).toEqual([]);
    const own = await createUser(postern, { email });
    expect((await search(email)).toSorted()).toEqual([user.id, other.id, own.id].toSorted());
    const plan = await postern.database.transaction(async (tx) => {
      await tx.query(testSql('set local enable_seqscan = off'));
      const found = `explain (select user_id from external_identities where subject = 'x' limit 100)
                     union (select user_id from external_identities where email = lower('x') limit 100)`;
      return JSON.stringify(await tx.query(testSql(found)));
    });
    expect(plan).toContain('external_identities_by_subject');
    expect(plan).toContain('external_identities_by_email');
  });

  test('ignores spaces and invisible marks around the text', async () => {
    const user = await createUser(postern, { phone: '+34612345678' });
    expect(await search('\u202a +34 612 345 678\u202c\t')).toEqual([user.id]);
    expect(await search('612 34 56')).toEqual([user.id]);
  });

  test('finds a name in either normal form, typed in either', async () => {
    const name = 'José Muñoz Åström';
    const users = [
      await createUser(postern, { name: name.normalize('NFC') }),
      await createUser(postern, { name: name.normalize('NFD') }),
    ];
    for (const form of ['NFC', 'NFD'] as const) {
      expect((await search('muñoz å'.normalize(form))).toSorted()).toEqual(users.map(({ id }) => id).toSorted());
    }
  });

  test.each([
    ['', 'too_short'],
    ['  \u200b ', 'too_short'],
    ['a\u0000b', 'invalid_characters'],
    ['a\nb', 'invalid_characters'],
    ['x'.repeat(321), 'too_long'],
    ['x'.repeat(7000), 'too_long'],
  ])('refuses %j', async (text, code) => {
    expect(await refused('GET', `/users?search=${encodeURIComponent(text)}`)).toEqual({
      status: 422,
      errors: [['search', code]],
    });
  });

  test('refuses the parameter twice, together with other errors', async () => {
    expect((await refused('GET', '/users?search=a&search=b&limit=0')).errors).toEqual([
      ['search', 'repeated_parameter'],
      ['limit', 'invalid_limit'],
    ]);
  });

  test.each(['<script>alert(1)</script>', '‮txet', "'; drop table users; --", '%_\\%', '😀😀', 'ａｂｃ'])(
    'finds a name with %s by a part of it',
    async (name) => {
      const user = await createUser(postern, { name });
      expect(await search([...name].slice(0, -1).join(''))).toEqual([user.id]);
    },
  );

  test('is a parameter of the list of users only', async () => {
    const { status, errors } = await refused('GET', '/events?search=ada');
    expect([status, errors]).toEqual([422, [['search', 'unknown_parameter']]]);
  });

  test('needs the scope users:read', async () => {
    const { body } = await admin<IssuedApiKey>('POST', '/keys', { name: 'w', scopes: ['users:write'] });
    expect((await admin('GET', '/users?search=ada', undefined, { bearer: body.token })).status).toBe(403);
    const support = await signInWithRole(postern, 'support');
    expect((await support.call('GET', '/admin/v1/users?search=ada')).status).toBe(200);
  });
});

describe('a long list of users', () => {
  beforeAll(async () => {
    await postern.database.query(
      testSql(`insert into users (id, name, created_at, updated_at)
               select gen_random_uuid(), case when n % 100 = 0 then 'Seldom ' else 'Frequent ' end || n,
                      now() - n * interval '1 second', now() from generate_series(1, 12000) n`),
    );
  });

  test('is searched page by page, by links and by cursor', async () => {
    const byCursor: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const path: string = `/users/page?search=seldom&limit=50${cursor && `&cursor=${cursor}`}`;
      const { body, headers } = await admin<UserPage>('GET', path);
      byCursor.push(...body.data.map(({ name }) => name));
      expect(body.page).toMatchObject({ total: 120, total_is_exact: true });
      expect([body.page.partial, headers['x-partial']]).toEqual([undefined, undefined]);
      cursor = body.page.next_cursor;
    }
    const names = Array.from({ length: 120 }, (_, n) => `Seldom ${(n + 1) * 100}`);
    expect(byCursor).toEqual(names);
    const first = await admin<User[]>('GET', '/users?search=seldom&limit=50');
    expect(first.headers.link).toContain('page=2&limit=50&search=seldom>; rel="next"');
    const second = await admin<User[]>('GET', '/users?search=seldom&limit=50&page=2');
    expect(second.body.map(({ name }) => name)).toEqual(names.slice(50, 100));
  });

  test('says that more than a thousand match', async () => {
    const { body, headers } = await admin<UserPage>('GET', '/users/page?search=frequent');
    expect(body.page).toMatchObject({ total: 1000, total_is_exact: false });
    expect(headers['x-total-count-capped']).toBe('true');
  });

  test('is searched completely without the index, if there is time to read all of it', async () => {
    await postern.database.query(testSql('drop index users_by_search_text'));
    const { body, headers } = await admin<UserPage>('GET', '/users/page?search=seldom 12000');
    expect(body.data.map(({ name }) => name)).toEqual(['Seldom 12000']);
    expect([body.page.total, headers['x-partial']]).toEqual([1, undefined]);
  });
});

describe('POST /admin/v1/users/find', () => {
  const find = (body?: object) => admin<UserPage>('POST', '/users/find', body);

  test('answers as the list, with the search, the filter and the cursor in the body', async () => {
    // A whole UUID would be looked up as an id.
    const mark = randomUUID().slice(0, 18);
    const users = [];
    for (const name of ['a', 'b', 'c']) {
      users.push(await createUser(postern, { name: `${mark} ${name}`, email: `${name}.${mark}@example.com` }));
    }
    const ids = users.map(({ id }) => id);
    const byAddress = await find({ search: `b.${mark}@example.com` });
    expect(byAddress.body.data.map(({ id }) => id)).toEqual([ids[1]]);
    expect(byAddress.headers).not.toHaveProperty('link');
    const filter = `email:eq:c.${mark}@example.com`;
    expect((await find({ filter })).body.data.map(({ id }) => id)).toEqual([ids[2]]);
    const first = await find({ search: mark, limit: 2, sort: 'created_at:asc' });
    expect(first.body).toMatchObject({ page: { number: 1, limit: 2, total: 3 } });
    const cursor = first.body.page.next_cursor;
    const second = await find({ search: mark, limit: 2, sort: 'created_at:asc', cursor });
    expect([...first.body.data, ...second.body.data].map(({ id }) => id)).toEqual(ids);
    expect((await find({})).status).toBe(200);
  });

  test('names the faults of the body, and needs the scope users:read', async () => {
    for (const [body, field] of [
      [{ limit: 101 }, 'limit'],
      [{ sort: 'name' }, 'sort'],
      [{ filter: 'nothing:eq:1' }, 'filter'],
      [{ cursor: 'x' }, 'cursor'],
      [{ mail: 'x' }, 'mail'],
    ] as const) {
      const { status, body: problem } = await admin<{ errors: { field: string }[] }>('POST', '/users/find', body);
      expect([status, problem.errors[0]?.field]).toEqual([422, field]);
    }
    const { body: key } = await admin<IssuedApiKey>('POST', '/keys', { name: 'x', scopes: ['sessions:verify'] });
    expect((await postern.api('POST', '/admin/v1/users/find', { bearer: key.token, body: {} })).status).toBe(403);
  });
});
