import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { compileErrors, examplesIn } from '../../../test/support/package-examples.js';
import * as react from '../src/index.js';

const sources = {
  '@postern/client': 'packages/client/src/index.ts',
  '@postern/client/internal': 'packages/client/src/internal.ts',
  '@postern/react': 'packages/react/src/index.ts',
};

test('every public function has an example', async () => {
  const codes = (await examplesIn('packages/react/src', 'tsx')).join('\n');
  expect(Object.keys(react).filter((name) => !new RegExp(`\\b${name}[(\\s]`).test(codes))).toEqual([]);
});

test('the examples in the README and the comments compile', { timeout: 120_000 }, async () => {
  const codes = await examplesIn('packages/react/src', 'tsx');
  expect(codes.length).toBeGreaterThan(10);
  expect(await compileErrors(codes, 'browser', sources, 'tsx')).toBe('');
});

test('the published package depends on the client of the same version, and on the React of the app', async () => {
  const read = async (name: string) => JSON.parse(await readFile(`packages/${name}/package.json`, 'utf8'));
  const [{ version }, manifest] = await Promise.all([read('client'), read('react')]);
  expect(manifest).toMatchObject({ version, dependencies: { '@postern/client': version } });
  expect(Object.keys(manifest.dependencies)).toHaveLength(1);
  expect(manifest.peerDependencies).toEqual({ react: '>=18' });
});
