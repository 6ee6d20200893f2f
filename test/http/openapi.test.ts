import { gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';

interface Media {
  readonly schema: { readonly $ref?: string };
  readonly example?: unknown;
  readonly examples?: object;
}
interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly { readonly $ref?: string }[];
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

/** Every object in them but examples: more than schemas, which does not matter to what is asked of them. */
function schemasOf(...parts: readonly unknown[]): Schema[] {
  return parts.flatMap((part) => {
    if (typeof part !== 'object' || part === null) return [];
    const members = Object.entries(part).filter(([name]) => name !== 'example' && name !== 'examples');
    const isNamed = members.some(
      ([name, member]) => name === 'type' && typeof member === 'object' && !Array.isArray(member),
    );
    return [...(Array.isArray(part) || isNamed ? [] : [part]), ...schemasOf(...members.map(([, member]) => member))];
  });
}

let postern: TestApp;
let text: string;
let document: Document;
let operations: { readonly where: string; readonly operation: Operation }[];
beforeAll(async () => {
  postern = await startTestApp();
  text = await (await fetch(`${postern.url}/openapi.json`)).text();
  document = JSON.parse(text);
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ where: `${method} ${path}`, operation })),
  );
});
afterAll(() => postern.close());

describe('the OpenAPI document', () => {
  test('describes each tag once, and every operation has a described tag and an id of its own', () => {
    const names = document.tags.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
    expect(document.tags.every(({ description }) => description !== '')).toBe(true);
    expect(operations.flatMap(({ operation }) => operation.tags).filter((tag) => !names.includes(tag))).toEqual([]);
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(ids.filter((id, place) => ids.indexOf(id) !== place)).toEqual([]);
    expect(ids.every((id) => /^[a-z][A-Za-z0-9]+$/.test(id))).toBe(true);
  });

  test('refers only to components that it has, and uses each of them', () => {
    const used = new Set(text.match(/"#\/components\/[^"]+"/g)?.map((one) => one.slice(1, -1)));
    const kinds = Object.entries(document.components).filter(([kind]) => kind !== 'securitySchemes');
    const present = kinds.flatMap(([kind, all]) => Object.keys(all).map((name) => `#/components/${kind}/${name}`));
    expect([...used].sort()).toEqual(present.sort());
  });

  test('has one success schema for each operation', () => {
    const several = operations.filter(({ operation }) => {
      const answers = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
      const schemas = answers.flatMap(([, answer]) => Object.values(answer.content ?? {}).map(({ schema }) => schema));
      return new Set(schemas.map((schema) => JSON.stringify(schema))).size > 1;
    });
    expect(several.map(({ where }) => where)).toEqual([]);
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
    const without = operations.flatMap(({ where, operation }) => {
      const answers = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
      const bodies = [operation.requestBody, ...answers.map(([, answer]) => answer)];
      const media = bodies.flatMap((body) => Object.entries(body?.content ?? {}));
      return media
        .filter(([type, { example, examples }]) => type.includes('json') && (example ?? examples) === undefined)
        .map(([type]) => `${where} ${type}`);
    });
    expect(without).toEqual([]);
  });

  test('has no schema with several types but one and null', () => {
    const types = [...text.matchAll(/"type":\[([^\]]+)\]/g)].map(([, list]) => list);
    expect(types.length).toBeGreaterThan(0);
    expect(types.filter((list) => !/^"(?:string|number|integer|boolean)","null"$/.test(list ?? ''))).toEqual([]);
  });

  test('names what generators would name badly: parts of objects, choices with null or in several places', () => {
    const inline = schemasOf(document.components.schemas, document.components.parameters, document.paths);
    const objects = inline.filter(({ properties }) => properties !== undefined);
    const components: unknown[] = Object.values(document.components.schemas ?? {});
    expect(objects.filter((schema) => !components.includes(schema))).toEqual([]);
    const choices = inline.flatMap(({ enum: choice }) => (choice === undefined ? [] : [choice]));
    expect(choices.filter((choice) => choice.includes(null))).toEqual([]);
    const texts = choices.map((choice) => JSON.stringify(choice));
    expect(texts.filter((one, place) => texts.indexOf(one) !== place)).toEqual([]);
  });

  test('gives every number its width, and files as bytes', () => {
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

  test('comes compressed, and not again while it is the same', async () => {
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
