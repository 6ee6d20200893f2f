import { randomInt, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PublishedItem } from '../../../src/contract/notification.js';
import type { User } from '../../../src/contract/user.js';
import type { ImportedLine } from '../../../src/contract/user-import.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../support/app.js';
import type { OpenApi } from '../../support/conformance.js';
import { withoutReferences } from '../../support/openapi.js';
import { signInWithRole } from '../../support/operators.js';
import { createUser, passwordLogin } from '../../support/users.js';

let postern: TestApp;
let user: User;
let operator: string;
beforeAll(async () => {
  postern = await startTestApp();
  user = await createUser(postern);
  operator = (await signInWithRole(postern, 'operator')).bearer;
});
afterAll(() => postern.close());

/** Keys of the API cannot ask for a login as a user. */
const bearerOf = (path: string) => (path.includes('/support-logins') ? operator : postern.adminKey);
const admin = <Body = ProblemAnswer>(method: string, path: string, body?: unknown, headers = {}) =>
  postern.api<Body>(method, path, { bearer: bearerOf(path), headers, ...(body !== undefined && { body }) });
const errors = ({ body }: { body: ProblemAnswer }) => body.errors.map(({ field, code }) => [field, code]);
const newName = () => `user${randomInt(1e12)}`;
const lines = async <Line>(path: string, ...sent: object[]) => {
  const body = sent.map((line) => JSON.stringify(line)).join('\n');
  const { text } = await admin('POST', path, body, { 'content-type': 'application/x-ndjson' });
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
};
const notification = () => ({ user_id: user.id, notification_type: 'payment', description: 'Lunch' });

/** Every operation of the administration, with a valid body if it takes one. */
function operations() {
  const { paths } = withoutReferences(JSON.parse(JSON.stringify(postern.app.swagger()))) as OpenApi & {
    paths: Record<string, Record<string, { requestBody?: { content: Record<string, Content> } }>>;
  };
  return Object.entries(paths)
    .filter(([path]) => path.startsWith('/admin/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { requestBody }]) => ({
        name: `${method} ${path}`,
        method: method.toUpperCase(),
        path: path.replace('{id}', user.id).replace(/\{\w+\}/, randomUUID()),
        json: requestBody?.content['application/json'],
        lines: requestBody?.content['application/x-ndjson'],
      })),
    );
}
interface Content {
  readonly schema: {
    readonly additionalProperties?: boolean;
    readonly items?: { readonly additionalProperties?: boolean };
  };
  readonly example?: object;
  readonly examples?: Readonly<Record<string, { readonly value: object }>>;
}

const firstExample = (content: Content | undefined): object | undefined =>
  content?.example ?? Object.values(content?.examples ?? {})[0]?.value;

describe('every operation of the administration', () => {
  it('refuses an unknown parameter', async () => {
    const all = operations();
    expect(all.length).toBeGreaterThan(25);
    for (const { name, method, path, json, lines: line } of all) {
      const type = json === undefined && line !== undefined ? 'application/x-ndjson' : 'application/json';
      const body = json === undefined && line === undefined ? undefined : JSON.stringify(firstExample(json) ?? {});
      const headers = body === undefined ? {} : { 'content-type': type };
      const answer = await admin(method, `${path}?frobnicate=1`, body, headers);
      // An operation may also miss a required parameter.
      const unknown = errors(answer).filter(([field]) => field === 'frobnicate');
      expect([name, answer.status, unknown]).toEqual([name, 422, [['frobnicate', 'unknown_parameter']]]);
    }
  });

  it('refuses an unknown member, also if it takes no body', async () => {
    for (const { name, method, path, json, lines: line } of operations()) {
      if (method === 'GET' || (json === undefined && line !== undefined)) continue;
      // In an array, the item has the unknown member.
      const example: unknown = firstExample(json);
      const isArray = Array.isArray(example);
      const body = { ...Object(isArray ? example[0] : example), frobnicate: 1 };
      const answer = await admin(method, path, isArray ? [body] : body);
      const field = isArray ? '0.frobnicate' : 'frobnicate';
      // Some operations also report what the example names, and what does not exist.
      const faults = errors(answer).filter(([, code]) => code === 'unknown_member');
      expect([name, answer.status, faults]).toEqual([name, 422, [[field, 'unknown_member']]]);
    }
  });

  it('allows no additional properties in its schemas in the OpenAPI document', () => {
    const schemas = operations().flatMap(({ name, json, lines: line }) => [
      ...(json === undefined ? [] : [[name, (json.schema.items ?? json.schema).additionalProperties]]),
      ...(line === undefined ? [] : [[`${name} lines`, line.schema.additionalProperties]]),
    ]);
    expect(schemas.length).toBeGreaterThan(8);
    for (const [name, allowsMore] of schemas) expect([name, allowsMore]).toEqual([name, false]);
  });
});

describe('an unknown member', () => {
  it('creates nothing, and the message suggests the nearest name', async () => {
    const username = newName();
    const answer = await admin('POST', '/admin/v1/users', { username, pasword: 'a nanosecond of wire' });
    expect(answer.status).toBe(422);
    expect(answer.body.errors).toEqual([
      { field: 'pasword', code: 'unknown_member', message: expect.stringContaining('did you mean "password"?') },
    ]);
    const { body } = await admin<User[]>('GET', `/admin/v1/users?filter=username:${username}`);
    expect(body).toEqual([]);
  });

  it.each([
    ['mail', 'email'],
    ['hash', 'password_hash'],
    ['user_name', 'username'],
    ['PASSWORD', 'password'],
  ])('%s gets the suggestion %s', async (wrong, right) => {
    const { body } = await admin('POST', '/admin/v1/users', { username: newName(), [wrong]: 'x' });
    expect(body.errors[0]?.message).toContain(`did you mean "${right}"?`);
  });

  it('without a similar name gets a list of all names', async () => {
    const { body } = await admin('POST', `/admin/v1/users/${user.id}/lock`, { permanent: true, frobnicate: 1 });
    expect(body.errors[0]?.message).toContain('permanent, until, reason');
  });

  it('is reported in Spanish too', async () => {
    const { body } = await admin(
      ...(['POST', '/admin/v1/users', { pasword: 'x' }, { 'accept-language': 'es' }] as const),
    );
    expect(body.errors[0]?.message).toMatch(/No existe el miembro "pasword"; ¿quisiste decir "password"\?/);
  });

  it('is reported together with all other errors of the body and the query', async () => {
    const answer = await admin('POST', '/admin/v1/notifications?dry_run=maybe&dryrun=1', [
      notification(),
      { ...notification(), descripton: 'x', actor: 7 },
    ]);
    expect(errors(answer).sort()).toEqual([
      ['1.actor', 'invalid_type'],
      ['1.descripton', 'unknown_member'],
      ['dry_run', 'invalid_choice'],
      ['dryrun', 'unknown_parameter'],
    ]);
  });

  it('is allowed in metadata', async () => {
    const metadata = { pasword: 1, deep: { frobnicate: [{ any: true }] } };
    const { status, body } = await admin<User>('POST', '/admin/v1/users', { username: newName(), metadata });
    expect([status, body.metadata]).toEqual([201, metadata]);
  });

  it('is refused before the Idempotency-Key is used, so the corrected request can have the same key', async () => {
    const [username, headers] = [newName(), { 'idempotency-key': randomUUID() }];
    expect((await admin('POST', '/admin/v1/users', { username, nam: 'Ada' }, headers)).status).toBe(422);
    const corrected = await admin<User>('POST', '/admin/v1/users', { username, name: 'Ada' }, headers);
    expect([corrected.status, corrected.headers['idempotent-replayed'], corrected.body.name]).toEqual([
      201,
      undefined,
      'Ada',
    ]);
  });

  it.each(['toString', 'hasOwnProperty', 'constructor', 'valueOf'])('is refused with the name %s', async (name) => {
    const answer = await admin('POST', '/admin/v1/users', { username: newName(), [name]: 'x' });
    expect([answer.status, errors(answer)]).toEqual([422, [[name, 'unknown_member']]]);
  });

  it('with the name __proto__ is dropped, and has no effect', async () => {
    const text = `{"username":"${newName()}","__proto__":{"role":"operator","name":"Eve"}}`;
    const { status, body } = await admin<User>('POST', '/admin/v1/users', text);
    expect([status, body.role, body.name]).toEqual([201, 'user', '']);
  });

  it('is shortened in the message, and at most a hundred are reported', async () => {
    const long = await admin('POST', '/admin/v1/users', { username: newName(), ['x'.repeat(5000)]: 1 });
    expect([long.status, long.body.errors[0]?.field]).toEqual([422, 'x'.repeat(60)]);
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`x${index}`, 1]));
    const answer = await admin('POST', '/admin/v1/users', { username: newName(), ...many });
    expect([answer.status, answer.body.errors.length]).toEqual([422, 100]);
  });
});

describe('an unknown member of a line', () => {
  it.each(['', '?dry_run=true'])('fails that line of an import%s', async (query) => {
    const [wrong, right] = await lines<ImportedLine>(
      `/admin/v1/users/import${query}`,
      { username: newName(), pasword: 'x', id: 7 },
      { username: newName() },
    );
    expect(wrong?.result).toBe('failed');
    expect(wrong?.errors?.map(({ field, code }) => [field, code]).sort()).toEqual([
      ['id', 'invalid_type'],
      ['pasword', 'unknown_member'],
    ]);
    expect(right?.result).toBe(query === '' ? 'created' : 'valid');
  });

  it.each(['', '?dry_run=true'])('fails that line of publishing%s', async (query) => {
    const [wrong, right] = await lines<PublishedItem>(
      `/admin/v1/notifications${query}`,
      { ...notification(), descripton: 'x' },
      notification(),
    );
    expect([wrong?.status, wrong?.errors?.[0]?.code, right?.status]).toEqual([
      ...[422, 'unknown_member', query === '' ? 201 : 200],
    ]);
  });

  it('is refused together with invalid parameters and headers of the request', async () => {
    const headers = { 'content-type': 'application/x-ndjson', 'idempotency-key': 'x' };
    const answer = await admin('POST', '/admin/v1/users/import?dry_run=yes&dryrun=1', '{}', headers);
    expect(errors(answer).sort()).toEqual([
      ['Idempotency-Key', 'not_supported'],
      ['dry_run', 'invalid_choice'],
      ['dryrun', 'unknown_parameter'],
    ]);
  });
});

describe('an unknown parameter of a list', () => {
  it.each([
    ['fliter=username:ada', 'fliter', 'did you mean "filter"?'],
    ['per_page=5', 'per_page', 'did you mean "page"?'],
    ['q=ada', 'q', 'page, limit, sort, filter, since'],
    ['__proto__=x', '__proto__', 'page, limit'],
  ])('is refused: %s', async (query, field, hint) => {
    const { status, body } = await admin('GET', `/admin/v1/users?${query}`);
    expect([status, body.errors]).toEqual([
      422,
      [{ field, code: 'unknown_parameter', message: expect.stringContaining(hint) }],
    ]);
  });

  it.each([
    '/admin/v1/users',
    '/admin/v1/events',
    '/admin/v1/outbox',
    '/admin/v1/keys',
    '/admin/v1/users/:id/devices',
    '/admin/v1/users/:id/notifications',
  ])('of %s is reported together with the errors of other parameters', async (path) => {
    const answer = await admin('GET', `${path.replace(':id', user.id)}?q=1&limit=many&filter=nothing:1`);
    expect(errors(answer).sort()).toEqual([
      ['filter', 'unknown_filter_field'],
      ['limit', 'invalid_limit'],
      ['q', 'unknown_parameter'],
    ]);
  });
});

it('routes under /v1 ignore unknown members and parameters', async () => {
  const body = { ...passwordLogin(user.username, undefined, { vendor: 'x' }), remember_me: true };
  const login = await postern.api('POST', '/v1/tokens?utm=1', { body });
  expect([login.status, login.body.status]).toEqual([201, 'approved']);
  const session = await postern.api('POST', '/v1/sessions', { basic: String(login.body.token) });
  const list = await postern.api('GET', '/v1/notifications?q=1', { bearer: String(session.body.token) });
  expect(list.status).toBe(200);
});
