import { brotliCompressSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/http/openapi/json-schema.js';
import { referencePage } from '../../../src/http/openapi/reference-page.js';
import { readPage } from '../../docs/markdown.js';

let document: JsonObject;
let page: string;
beforeAll(() => {
  document = JSON.parse(readPage('docs/openapi.json')) as JsonObject;
  page = referencePage(document, { files: '/docs/', documentUrl: '/openapi.json' });
});

const idsOf = (html: string) => [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
const operationsOf = (paths: unknown) =>
  Object.entries(paths as Record<string, Record<string, JsonObject>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, id: operation.operationId })),
  );

test('the page has each operation and each schema once, and its links lead to one of them', () => {
  const ids = idsOf(page);
  expect(new Set(ids).size).toBe(ids.length);
  const operations = operationsOf(document.paths);
  expect(operations.length).toBeGreaterThan(150);
  expect(operations.filter(({ id }) => !ids.includes(String(id)))).toEqual([]);
  const { schemas } = document.components as { schemas: object };
  expect(Object.keys(schemas).filter((name) => !ids.includes(`schema-${name}`))).toEqual([]);
  const links = [...page.matchAll(/href="#([^"]*)"/g)].map(([, id = '']) => id);
  expect(links.length).toBeGreaterThan(200);
  expect(links.filter((id) => !ids.includes(id))).toEqual([]);
});

test('an operation has its credentials, parameters, errors and a command', () => {
  const one = /<details class="operation" id="createToken">[\s\S]*?<\/details>/.exec(page)?.[0] ?? '';
  expect(one).toContain('no credentials');
  expect(one).toContain('<code>account_temporarily_locked</code>');
  expect(one).toContain('href="#schema-TokenRequest"');
  expect(one).toContain('curl -X POST &quot;$BASE/v1/tokens&quot;');
  const admin = /<details class="operation" id="getUser">[\s\S]*?<\/details>/.exec(page)?.[0] ?? '';
  expect(admin).toContain('an API key with the scope <code>users:read</code>, or a session token');
  expect(admin).toContain('&quot;$BASE/admin/v1/users/$ID&quot; -H &quot;Authorization: Bearer $KEY&quot;');
});

test('everything is closed at first, and nothing in the page is a script or a style', () => {
  expect(page).not.toMatch(/<details[^>]* open|<style| style=| on\w+=/);
  expect([...page.matchAll(/<script[^>]*>/g)].map(([tag]) => tag)).toEqual([
    '<script type="module" src="/docs/reference.js">',
  ]);
});

test('texts of the document are text', () => {
  const hostile = '<img src=x onerror=alert(1)>"';
  const info = { title: hostile, version: hostile, description: hostile };
  const html = referencePage({ ...document, info }, { files: '/docs/', documentUrl: hostile, home: hostile });
  expect(html).not.toContain('<img');
});

test('the page is small: fewer than 100 KB are sent', () => {
  expect(brotliCompressSync(page).length).toBeLessThan(100_000);
});
