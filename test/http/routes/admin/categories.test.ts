import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Event, IssuedApiKey } from '../../../../src/contract/administration.js';
import type { Category, CategoryChanges, MessagePreview } from '../../../../src/contract/category.js';
import { createAdministration } from '../../../support/administration.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';

let postern: TestApp;
let other: TestApp;
beforeAll(async () => {
  postern = await startTestApp(
    { MAIL_PROVIDER: 'none', SMS_PROVIDER: 'none' },
    // Twenty requests wait for one row, on a busy machine for a long time.
    { blockInterval: 100, queryTimeout: 60_000 },
  );
  other = await postern.another();
});
afterAll(async () => {
  await other?.close();
  await postern?.close();
});

const { admin, refused } = createAdministration(() => postern);
const replace = (body: unknown, query = '', headers: Readonly<Record<string, string>> = {}) =>
  admin<CategoryChanges & ProblemAnswer>('PUT', `/categories${query}`, body, { headers });
const put = (name: string, body: object = {}) => admin<Category & ProblemAnswer>('PUT', `/categories/${name}`, body);
const list = async () => {
  const { body, headers } = await admin<Category[]>('GET', '/categories');
  return { body, names: body.map(({ name }) => name), tag: headers.etag ?? '' };
};
beforeEach(() => replace([]));

const builtIn = {
  title: {},
  description: {},
  is_critical: false,
  steps: [{ channel: 'push', after: '0s', if: 'always' }],
  defaults: { inbox: 'on', push: 'on', email: 'on', sms: 'on' },
  ttl: null,
  cap: null,
  digest: null,
  data_schema: null,
  templates: {},
};
const billing = {
  title: { en: 'Bills', es: 'Facturas' },
  description: { en: 'New bills' },
  is_critical: true,
  steps: [],
  defaults: { inbox: 'on', push: 'off', email: 'on', sms: 'off' },
  ttl: '2d',
  cap: { count: 3, per: '1h', overflow: 'drop' },
  digest: { every: 'daily 09:00', max_items: 7 },
  data_schema: { type: 'object', properties: { sum: { type: 'number' } } },
  templates: { 'push.en': { title: '{{actor}}', text: '{{data.sum | currency "EUR"}}' } },
};

describe('a category', () => {
  test('of each notification type exists, with today’s behaviour', async () => {
    expect((await list()).body).toEqual(['payment', 'pool', 'request'].map((name) => ({ name, ...builtIn })));
    expect((await admin<Category>('GET', '/categories/pool')).body).toEqual({ name: 'pool', ...builtIn });
  });

  test('is created, read, replaced and deleted', async () => {
    const created = await put('billing', billing);
    expect([created.status, created.body]).toEqual([201, { name: 'billing', ...billing }]);
    expect((await admin<Category>('GET', '/categories/billing')).body).toEqual(created.body);
    const replaced = await put('billing', { name: 'billing', is_critical: true });
    expect([replaced.status, replaced.body]).toEqual([200, { name: 'billing', ...builtIn, is_critical: true }]);
    expect((await admin('DELETE', '/categories/billing')).status).toBe(204);
    expect(await refused('GET', '/categories/billing')).toMatchObject({ status: 404 });
    expect(await refused('DELETE', '/categories/billing')).toMatchObject({ status: 404 });
  });

  test('of a notification type can be changed, and not be deleted', async () => {
    await put('pool', { is_critical: true });
    expect((await admin<Category>('GET', '/categories/pool')).body.is_critical).toBe(true);
    const { status, body } = await admin<ProblemAnswer>('DELETE', '/categories/pool');
    expect([status, body.errors[0]?.code]).toEqual([409, 'category_built_in']);
    await put('pool');
    expect((await admin<Category>('GET', '/categories/pool')).body).toEqual({ name: 'pool', ...builtIn });
  });

  test('has at most one step of each configured channel, in the order of their times', async () => {
    expect((await put('quiet', { steps: [] })).body.steps).toEqual([]);
    const steps = [{ channel: 'push', after: '1h', if: 'unread' }, { channel: 'push' }, { channel: 'email' }];
    expect(await refused('PUT', '/categories/x', { steps })).toEqual({
      status: 422,
      errors: [
        ['steps.1.channel', 'duplicate_items'],
        ['steps.1.after', 'step_order'],
        ['steps.2.channel', 'channel_not_available'],
        ['steps.2.after', 'step_order'],
      ],
    });
  });

  test('needs the scope notifications:configure', async () => {
    const { body: key } = await admin<IssuedApiKey>('POST', '/keys', {
      name: 'k',
      scopes: ['notifications:configure'],
    });
    const { body: without } = await admin<IssuedApiKey>('POST', '/keys', {
      name: 'k',
      scopes: ['notifications:write'],
    });
    const statusWith = async (token: string) =>
      (await admin('GET', '/categories', undefined, { bearer: token })).status;
    expect([await statusWith(key.token), await statusWith(without.token)]).toEqual([200, 403]);
  });
});

describe('all categories', () => {
  test('can be sent back as they are', async () => {
    await put('billing', billing);
    const { body, tag } = await list();
    const same = await replace(body, '', { 'if-match': tag });
    expect([same.status, same.body, same.headers.etag]).toEqual([200, { created: [], changed: [], deleted: [] }, tag]);
    expect(await list()).toMatchObject({ body, tag });
  });

  test('are replaced together: missing ones are deleted, and types get their defaults again', async () => {
    await replace([{ name: 'a' }, { name: 'b' }, { name: 'pool', is_critical: true }]);
    const { status, body } = await replace([{ name: 'b', ttl: '1h' }, { name: 'c' }]);
    expect([status, body]).toEqual([
      200,
      {
        created: ['c'],
        changed: [
          { name: 'b', members: ['ttl'] },
          { name: 'pool', members: ['is_critical'] },
        ],
        deleted: ['a'],
      },
    ]);
    expect((await list()).names).toEqual(['b', 'c', 'payment', 'pool', 'request']);
  });

  test('show in a dry run what would change, and stay', async () => {
    const before = await list();
    const { body } = await replace([{ name: 'a' }], '?dry_run=true');
    expect(body).toEqual({ created: ['a'], changed: [], deleted: [] });
    expect(await list()).toEqual(before);
  });

  test('stay if somebody has changed them since the ETag in If-Match', async () => {
    const { tag } = await list();
    await put('a');
    const answer = await replace([{ name: 'b' }], '', { 'if-match': tag });
    expect([answer.status, answer.body.errors[0]?.code]).toEqual([412, 'precondition_failed']);
    expect((await list()).names).toContain('a');
    const now = await list();
    expect((await replace([{ name: 'b' }], '', { 'if-match': `"x", ${now.tag}` })).status).toBe(200);
    expect((await replace([{ name: 'b' }], '', { 'if-match': '*' })).status).toBe(200);
  });

  test('have an ETag for conditional requests', async () => {
    const { tag } = await list();
    const get = () => admin('GET', '/categories', undefined, { headers: { 'if-none-match': tag } });
    expect((await get()).status).toBe(304);
    await put('a');
    expect((await get()).status).toBe(200);
  });

  test('lose no change of parallel requests', async () => {
    const names = Array.from({ length: 20 }, (_, n) => `c${n}`);
    const statuses = await Promise.all(names.map(async (name) => (await put(name)).status));
    expect(new Set(statuses)).toEqual(new Set([201]));
    expect((await list()).names).toEqual(expect.arrayContaining(names));
  });

  test('write one audit event for each change', async () => {
    await put('billing');
    await replace([{ name: 'a' }]);
    const { body } = await admin<Event[]>('GET', '/events?filter=type:eq:categories.changed&limit=2');
    expect(body).toMatchObject([
      { actor: 'key:environment', data: { created: ['a'], changed: [], deleted: ['billing'] } },
      { actor: 'key:environment', data: { created: ['billing'], changed: [], deleted: [] } },
    ]);
  });

  test('are known to every instance soon after a change', async () => {
    await put('everywhere');
    expect(postern.services.categories.known.get('everywhere')).toBeDefined();
    await eventually('the other instance to know it', async () => other.services.categories.known.get('everywhere'));
  });
});

describe('a refusal', () => {
  test('is for limits above 1000 only', async () => {
    const limits = (count: number) => ({
      ...{ cap: { count, per: '1d' }, digest: { every: '1h', max_items: count } },
    });
    expect((await refused('PUT', '/categories/large', limits(1001))).errors.sort()).toEqual([
      ['cap.count', 'too_large'],
      ['digest.max_items', 'too_large'],
    ]);
    expect((await admin('PUT', '/categories/large', limits(1000))).status).toBe(201);
    expect((await admin('DELETE', '/categories/large')).status).toBe(204);
  });

  test('names the faults of form and of meaning of all categories together, and nothing is applied', async () => {
    const before = await list();
    const answer = await refused('PUT', '/categories', [
      { name: 'good' },
      { name: 'Bad Name', is_critical: 'yes', titel: {} },
      {
        name: 'good',
        steps: [{ channel: 'push', after: '31d' }, { channel: 'fax' }, { channel: 'sms', after: 'soon' }],
      },
      {
        name: 'd',
        title: { 'no locale': 'x', en: 7 },
        defaults: { push: 'digest', fax: 'on' },
        ttl: '1s',
        cap: { count: 1 },
        data_schema: { typ: 'object' },
        templates: {
          'push.en': { title: '{{actr}}', text: '{{#data}}', subject: 'x' },
          fax: { text: 'x' },
          'sms.en': {},
        },
      },
    ]);
    expect(answer.status).toBe(422);
    expect(answer.errors.sort()).toEqual(
      [
        ['1.is_critical', 'invalid_type'],
        ['1.name', 'invalid_format'],
        ['1.titel', 'unknown_member'],
        ['2.name', 'duplicate_items'],
        ['2.steps.0.after', 'invalid_duration'],
        ['2.steps.1.channel', 'invalid_choice'],
        ['2.steps.2.after', 'invalid_duration'],
        ['2.steps.2.channel', 'channel_not_available'],
        ['3.cap.per', 'required'],
        ['3.data_schema.typ', 'bad_schema'],
        ['3.defaults.fax', 'unknown_member'],
        ['3.defaults.push', 'invalid_choice'],
        ['3.templates.fax', 'invalid_template_name'],
        ['3.templates.push.en.subject', 'not_of_channel'],
        ['3.templates.push.en.text', 'bad_template'],
        ['3.templates.push.en.title', 'bad_template'],
        ['3.templates.sms.en.text', 'required'],
        ['3.title.en', 'invalid_type'],
        ['3.title.no locale', 'invalid_locale'],
        ['3.ttl', 'invalid_duration'],
      ].sort(),
    );
    expect(await list()).toEqual(before);
  });

  test('suggests the nearest name', async () => {
    const { body } = await put('x', { titel: {}, templates: { 'push.en': { text: 'Hi\n{{user.nme}}' } } });
    expect(body.errors.map(({ field, message }) => [field, message])).toEqual([
      ['titel', expect.stringContaining('title')],
      [
        'templates.push.en.text',
        'The template has a fault at character 4: there is no user.nme. Did you mean user.name?',
      ],
    ]);
  });

  test('of too many categories, of another name than in the path, and of steps out of order', async () => {
    expect(await refused('PUT', '/categories/No', {})).toEqual({ status: 422, errors: [['name', 'invalid_format']] });
    const many = Array.from({ length: 198 }, (_, n) => ({ name: `c${n}` }));
    expect(await refused('PUT', '/categories', many)).toEqual({ status: 422, errors: [[undefined, 'too_many_items']] });
    expect((await replace(many.slice(1))).status).toBe(200);
    expect(await refused('PUT', '/categories/one.more', {})).toEqual({
      status: 422,
      errors: [[undefined, 'too_many_items']],
    });
    expect(await refused('PUT', '/categories/pool', { name: 'payment' })).toEqual({
      status: 422,
      errors: [['name', 'not_of_path']],
    });
  });

  test('of a body over 4 MiB', async () => {
    const text = 'x'.repeat(60_000);
    const templates = Object.fromEntries(Array.from({ length: 70 }, (_, n) => [`email.en-x-a${n}`, { text }]));
    expect((await put('large', { templates })).status).toBe(413);
    const third = (name: string) => ({ name, templates: Object.fromEntries(Object.entries(templates).slice(0, 23)) });
    expect((await put('a', third('a'))).status).toBe(201);
    expect((await put('b', third('b'))).status).toBe(201);
    expect((await put('c', third('c'))).status).toBe(201);
    expect(await refused('PUT', '/categories/d', third('d'))).toEqual({
      status: 422,
      errors: [[undefined, 'too_many_bytes']],
    });
  });
});

describe('a preview', () => {
  const preview = (name: string, body: object) =>
    admin<MessagePreview & ProblemAnswer>('POST', `/categories/${name}/preview`, body);
  const notification = { actor: 'Grace', description: 'paid', data: { sum: 12.5 } };

  test('renders what a user of this language would get, and writes nothing', async () => {
    await put('billing', billing);
    const { status, body } = await preview('billing', { channel: 'push', locale: 'en-GB', notification });
    expect([status, body]).toEqual([
      200,
      { template: 'push.en', subject: null, title: 'Grace', text: '€12.50', html: null, warnings: [] },
    ]);
    const { body: plain } = await preview('pool', { channel: 'email', notification });
    const text = { subject: 'Grace: paid', title: null, text: 'Grace\npaid', html: null };
    expect(plain).toEqual({ template: null, ...text, warnings: [] });
  });

  test('warns of steps with unread in a category that is not in the inbox, because these never go', async () => {
    const warningsOf = async (category: object) => {
      expect((await put('quiet', category)).status).toBeLessThan(300);
      return (await preview('quiet', { channel: 'push', notification })).body.warnings.map(({ code }) => code);
    };
    const steps = [{ channel: 'push', if: 'unread' }];
    expect(await warningsOf({ steps, defaults: { inbox: 'off' } })).toEqual(['inbox_off_unread']);
    expect(await warningsOf({ steps })).toEqual([]);
    expect(await warningsOf({ defaults: { inbox: 'off' } })).toEqual([]);
  });

  test('refuses data that the category does not take, output that is too large, and unknown categories', async () => {
    await put('billing', billing);
    const wrong = { channel: 'push', notification: { ...notification, data: { sum: 'much' } } };
    expect(await refused('POST', '/categories/billing/preview', wrong)).toEqual({
      status: 422,
      errors: [['notification.data.sum', 'data_invalid']],
    });
    await put('bomb', {
      templates: { 'push.en': { text: '{{#data.a}}{{#data.a}}{{#data.a}}x{{/data.a}}{{/data.a}}{{/data.a}}' } },
    });
    const bomb = {
      channel: 'push',
      notification: { ...notification, data: { a: Array.from({ length: 100 }, () => 1) } },
    };
    expect(await refused('POST', '/categories/bomb/preview', bomb)).toEqual({
      status: 422,
      errors: [['notification', 'template_too_large']],
    });
    expect(await refused('POST', '/categories/none/preview', bomb)).toMatchObject({ status: 404 });
  });
});
