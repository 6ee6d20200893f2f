import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { settings } from '../../src/config/settings.js';

const chart = fileURLToPath(new URL('../../deploy/helm/', import.meta.url));
const read = (path: string) => readFileSync(`${chart}${path}`, 'utf8');
const templates = readdirSync(`${chart}templates`).map((name) => read(`templates/${name}`));

/** The paths of the values in values.yaml, such as `image.tag`. The file has maps in block style only. */
function valuePaths(): string[] {
  const open: string[] = [];
  const paths = new Set<string>();
  for (const line of read('values.yaml').split('\n')) {
    const [, indent = '', name, value] = /^( *)([a-zA-Z]+):(.*)$/.exec(line) ?? [];
    if (name === undefined) continue;
    open.length = indent.length / 2;
    open.push(name);
    if (value !== '') paths.add(open.join('.'));
  }
  return [...paths];
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** The leaves of the schema, as paths. */
function schemaPaths({ properties = {} }: Schema, parent = ''): string[] {
  return Object.entries(properties).flatMap(([name, schema]) =>
    schema.properties === undefined ? [`${parent}${name}`] : schemaPaths(schema, `${parent}${name}.`),
  );
}

/** Is true if the path is `of` or below it: values.yaml has members of maps that the schema does not list. */
const isPartOf = (path: string, of: string) => path === of || path.startsWith(`${of}.`);

test('the schema, the default values and the README name the same values', () => {
  const described = [...read('README.md').matchAll(/`([a-z][A-Za-z]+(?:\.[a-z][A-Za-z]+)*)`/g)].map(
    ([, path = '']) => path,
  );
  const known = schemaPaths(JSON.parse(read('values.schema.json')) as Schema).filter((path) => path !== 'global');
  expect(known.length).toBeGreaterThan(20);
  expect(known.filter((path) => !described.includes(path))).toEqual([]);
  const values = valuePaths();
  expect(known.filter((path) => !values.some((value) => isPartOf(value, path)))).toEqual([]);
  expect(values.filter((value) => !known.some((path) => isPartOf(value, path)))).toEqual([]);
});

test('the templates use only values that exist, and all of them', () => {
  const used = new Set(
    templates.flatMap((text) => [...text.matchAll(/\.Values\.([A-Za-z.]+)/g)].map(([, path = '']) => path)),
  );
  const known = schemaPaths(JSON.parse(read('values.schema.json')) as Schema).filter((path) => path !== 'global');
  expect([...used].filter((path) => !known.includes(path))).toEqual([]);
  expect(known.filter((path) => !used.has(path))).toEqual([]);
});

test('every setting that the chart names exists', () => {
  const chartTexts = [...templates, read('README.md'), read('values.yaml'), read('values.schema.json')];
  const named = new Set(chartTexts.flatMap((text) => text.match(/\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b/g) ?? []));
  expect(named.size).toBeGreaterThan(6);
  expect([...named].filter((name) => !Object.hasOwn(settings, name))).toEqual([]);
});

test('the braces of each template are balanced, and each block has an end', () => {
  for (const text of templates) {
    expect(text.split('{{').length).toBe(text.split('}}').length);
    const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
    expect(count(/\{\{-? *end\b/g)).toBe(count(/\{\{-? *(?:if|range|with|define)\b/g));
  }
});

test('no Service that can be open to everybody has the port of the metrics', () => {
  const services = templates.filter((text) => /^kind: Service$/m.test(text));
  const open = services.filter((text) => text.includes('.Values.service.type'));
  expect([open.length, services.length]).toEqual([1, 2]);
  expect(open.filter((text) => text.includes('metrics'))).toEqual([]);
});
