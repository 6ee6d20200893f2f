import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { compileErrors, examplesIn } from '../../../test/support/package-examples.js';
import * as server from '../src/index.js';

const sources = {
  '@postern/client': 'packages/client/src/index.ts',
  '@postern/client/internal': 'packages/client/src/internal.ts',
  '@postern/server': 'packages/server/src/index.ts',
  '@postern/server/next': 'packages/server/src/next/index.ts',
  '@postern/server/sveltekit': 'packages/server/src/sveltekit/index.ts',
  '@postern/server/testing': 'packages/server/src/testing/index.ts',
};

test('the examples in the README and the comments compile', { timeout: 120_000 }, async () => {
  expect(await compileErrors(await examplesIn('packages/server/src'), 'node', sources)).toBe('');
});

test('each exported function is in an example', async () => {
  const examples = (await examplesIn('packages/server/src')).join('\n');
  const own = Object.keys(server).filter((name) => !/^is[A-Z]/.test(name));
  expect(own.filter((name) => !examples.includes(name))).toEqual([]);
});

test('the published package depends on the client of the same version only', async () => {
  const read = async (name: string) => JSON.parse(await readFile(`packages/${name}/package.json`, 'utf8'));
  const [{ version }, { dependencies }] = await Promise.all([read('client'), read('server')]);
  expect(dependencies).toEqual({ '@postern/client': version });
});
