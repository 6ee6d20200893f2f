import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { createUser, signIn } from '../../support/users.js';

interface Media {
  readonly schema: { readonly $ref?: string };
  readonly example?: unknown;
  readonly examples?: object;
}
interface Parameter {
  readonly $ref?: string;
  readonly name?: string;
  readonly in?: string;
  readonly schema?: { readonly maximum?: number };
}
interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[] | undefined;
  readonly requestBody?: { readonly content: Record<string, Media> };
  readonly responses: Record<string, { readonly $ref?: string; readonly content?: Record<string, Media> }>;
}
interface Document {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: Record<string, Record<string, object>>;
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly maximum?: number;
  readonly properties?: object;
  readonly enum?: readonly unknown[];
  readonly contentMediaType?: string;
}

/** All objects in these values, without examples. Some objects are not schemas, which does not matter to the tests. */
function schemasOf(...parts: readonly unknown[]): Schema[] {
  return parts.flatMap((part) => {
    if (typeof part !== 'object' || part === null) return [];
    const members = Object.entries(part).filter(([name]) => name !== 'example' && name !== 'examples');
    // A map of properties is not a schema, also if one property has the name `type`.
    const isMapOfProperties = members.some(
      ([name, member]) => name === 'type' && typeof member === 'object' && !Array.isArray(member),
    );
    return [
      ...(Array.isArray(part) || isMapOfProperties ? [] : [part]),
      ...schemasOf(...members.map(([, member]) => member)),
    ];
  });
}

/** A parameter, or the component that it refers to. */
const resolved = (parameter: Parameter): Parameter =>
  parameter.$ref === undefined
    ? parameter
    : (document.components.parameters?.[parameter.$ref.split('/').at(-1) ?? ''] ?? parameter);

const sourceFiles = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file));

const readsIdempotencyKey = (source: string) =>
  /headers\['idempotency-key'\]|\bidempotent\(\s*\n?\s*request/.test(source);

const isIn = (operations: readonly { readonly where: string }[], where: string) =>
  operations.some((operation) => operation.where === where);

let postern: TestApp;
let text: string;
let document: Document;
let operations: { readonly where: string; readonly operation: Operation }[];
beforeAll(async () => {
  postern = await startTestApp();
  text = await (await fetch(`${postern.url}/openapi.json`)).text();
  document = JSON.parse(text);
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      where: `${method} ${path}`,
      operation: { ...operation, parameters: operation.parameters?.map(resolved) },
    })),
  );
});
afterAll(() => postern.close());

describe('the OpenAPI document', () => {
  test('describes each tag once, and every operation has a described tag and a unique id', () => {
    const names = document.tags.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
    expect(document.tags.every(({ description }) => description !== '')).toBe(true);
    expect(operations.flatMap(({ operation }) => operation.tags).filter((tag) => !names.includes(tag))).toEqual([]);
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    expect(ids.every((id) => /^[a-z][A-Za-z0-9]+$/.test(id))).toBe(true);
  });

  test('refers only to existing components, and uses each of them', () => {
    const used = new Set(text.match(/"#\/components\/[^"]+"/g)?.map((one) => one.slice(1, -1)));
    const kinds = Object.entries(document.components).filter(([kind]) => kind !== 'securitySchemes');
    const present = kinds.flatMap(([kind, all]) => Object.keys(all).map((name) => `#/components/${kind}/${name}`));
    expect([...used].sort()).toEqual(present.sort());
  });

  test('has one success schema for each operation', () => {
    const operationsWithSeveral = operations.filter(({ operation }) => {
      const answers = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
      const schemas = answers.flatMap(([, answer]) => Object.values(answer.content ?? {}).map(({ schema }) => schema));
      return new Set(schemas.map((schema) => JSON.stringify(schema))).size > 1;
    });
    expect(operationsWithSeveral.map(({ where }) => where)).toEqual([]);
  });

  test('refers to named problems, and lists the codes of each operation', () => {
    for (const { where, operation } of operations) {
      const problems = Object.entries(operation.responses).filter(([status]) => status >= '400');
      expect(problems.length, where).toBeGreaterThan(0);
      for (const [status, problem] of problems) {
        expect(problem, `${where} ${status}`).toEqual({
          $ref: expect.stringMatching(/^#\/components\/responses\/[A-Z]/),
          description: expect.stringMatching(/^`[a-z_]+`: /),
        });
      }
    }
  });

  test('has an example for every JSON body and success answer', () => {
    const mediaWithoutExample = operations.flatMap(({ where, operation }) => {
      const answers = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
      const bodies = [operation.requestBody, ...answers.map(([, answer]) => answer)];
      const media = bodies.flatMap((body) => Object.entries(body?.content ?? {}));
      return media
        .filter(([type, { example, examples }]) => type.includes('json') && (example ?? examples) === undefined)
        .map(([type]) => `${where} ${type}`);
    });
    expect(mediaWithoutExample).toEqual([]);
  });

  test('has no schema with several types, except one type and null', () => {
    const types = [...text.matchAll(/"type":\[([^\]]+)\]/g)].map(([, list]) => list);
    expect(types.length).toBeGreaterThan(0);
    expect(types.filter((list) => !/^"(?:string|number|integer|boolean)","null"$/.test(list ?? ''))).toEqual([]);
  });

  test('has a component for each nested object, no choice with null, and no choice twice', () => {
    const inline = schemasOf(document.components.schemas, document.components.parameters, document.paths);
    const objects = inline.filter(({ properties }) => properties !== undefined);
    const components: unknown[] = Object.values(document.components.schemas ?? {});
    expect(objects.filter((schema) => !components.includes(schema))).toEqual([]);
    const choices = inline.flatMap(({ enum: choice }) => (choice === undefined ? [] : [choice]));
    expect(choices.filter((choice) => choice.includes(null))).toEqual([]);
    const texts = choices.map((choice) => JSON.stringify(choice));
    expect(texts.filter((choice, index) => texts.indexOf(choice) !== index)).toEqual([]);
  });

  test('has a format for every number, and describes files as bytes', () => {
    const schemas = schemasOf(document.components, document.paths);
    const numbers = schemas.filter(({ type }) => [type].flat().some((one) => one === 'number' || one === 'integer'));
    const isSmall = (maximum: number | undefined) => maximum !== undefined && maximum < 2 ** 31;
    expect(numbers.filter(({ format, maximum }) => format === undefined && !isSmall(maximum))).toEqual([]);
    expect(numbers.some(({ format }) => format === 'int64')).toBe(true);
    const files = schemas.filter(({ contentMediaType }) => contentMediaType !== undefined);
    expect(files.map(({ type, format }) => ({ type, format }))).toEqual(
      files.map(() => ({ type: 'string', format: 'binary' })),
    );
    expect(files).toHaveLength(3);
  });

  /** The operations that declare a parameter of this name. */
  const declaring = (place: 'header' | 'query', name: string) =>
    operations.filter(({ operation }) =>
      operation.parameters?.some((parameter) => parameter.in === place && parameter.name === name),
    );

  test('declares Accept-Language for every operation', () => {
    expect(declaring('header', 'Accept-Language')).toHaveLength(operations.length);
  });

  test('declares Idempotency-Key only for the operations that read it, and for all of them', () => {
    const ids = declaring('header', 'Idempotency-Key').map(({ operation }) => operation.operationId);
    expect(ids.sort()).toEqual([
      'answerToken',
      'createAudience',
      'createImage',
      'createKey',
      'createTestIdentity',
      'createUser',
      'createWebhook',
      'publishNotification',
      'publishNotifications',
      'retryMessage',
      'rotateWebhookSecret',
      'uploadImage',
    ]);
    const readers = sourceFiles('src/http').filter((file) => readsIdempotencyKey(readFileSync(file, 'utf8')));
    expect(readers.sort()).toEqual([
      'src/http/ndjson/exchange.ts',
      'src/http/requests/idempotent.ts',
      'src/http/routes/admin/keys.ts',
      'src/http/routes/admin/notifications.ts',
      'src/http/routes/admin/outbox.ts',
      'src/http/routes/admin/test-identities.ts',
      'src/http/routes/admin/users/users.ts',
      'src/http/routes/admin/webhooks.ts',
      'src/http/routes/v1/images.ts',
      'src/http/routes/v1/tokens.ts',
    ]);
  });

  test('declares Prefer and If-None-Match only for the lists that support them, and for all of them', async () => {
    const user = await createUser(postern);
    const { session } = await signIn(postern, user);
    const webhook = await postern.api<{ id: string }>('POST', '/admin/v1/webhooks', {
      bearer: postern.adminKey,
      body: { url: 'https://hooks.example.com/', events: ['user.*'] },
    });
    const lists = declaring('query', 'page');
    expect(lists.length).toBeGreaterThan(20);
    for (const { where } of lists) {
      const template = where.split(' ')[1] ?? '';
      const path = template.replace('{id}', template.startsWith('/admin/v1/webhooks/') ? webhook.body.id : user.id);
      const bearer = path.startsWith('/admin/') ? postern.adminKey : session.token;
      const counted = await postern.api('GET', path, { bearer, headers: { prefer: 'count=exact' } });
      expect(counted.status, where).toBe(200);
      const preference = counted.headers['preference-applied'];
      expect([where, preference === 'count=exact']).toEqual([where, isIn(declaring('header', 'Prefer'), where)]);
      const tag = counted.headers.etag ?? '*';
      const again = await postern.api('GET', path, { bearer, headers: { 'if-none-match': tag } });
      expect([where, again.status === 304]).toEqual([where, isIn(declaring('header', 'If-None-Match'), where)]);
    }
  });

  test('declares page with its maximum, cursor and an envelope for every list', async () => {
    const lists = declaring('query', 'page');
    expect(lists.map(({ where }) => where)).toEqual(declaring('query', 'cursor').map(({ where }) => where));
    for (const { operation, where } of lists) {
      const page = operation.parameters?.find(({ name }) => name === 'page');
      expect([where, page?.schema?.maximum]).toEqual([where, 1_000_000_000]);
      expect(operations.map((one) => one.where)).toContain(where.endsWith('/page') ? where : `${where}/page`);
    }
    const ask = (page: number) => postern.api('GET', `/admin/v1/users?page=${page}`, { bearer: postern.adminKey });
    expect([(await ask(1_000_000_000)).status, (await ask(1_000_000_001)).status]).toEqual([200, 422]);
  });

  test('is sent compressed, and the answer is 304 while it has not changed', async () => {
    const ask = async (headers: Readonly<Record<string, string>>) => {
      const answer = await request(`${postern.url}/openapi.json`, { headers });
      return { ...answer, bytes: Buffer.from(await answer.body.arrayBuffer()) };
    };
    const zipped = await ask({ 'accept-encoding': 'br, gzip;q=0.5' });
    expect(zipped.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(zipped.bytes).toString()).toBe(text);
    expect(zipped.bytes.length * 5).toBeLessThan(text.length);
    const again = await ask({ 'if-none-match': String(zipped.headers.etag) });
    expect([again.statusCode, again.bytes.length]).toEqual([304, 0]);
    const refused = await ask({ 'accept-encoding': 'gzip;q=0' });
    expect([refused.statusCode, refused.headers['content-encoding']]).toEqual([200, undefined]);
  });
});
