import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { examplesIn } from '../../../test/support/package-examples.js';
import * as react from '../src/index.js';

test('every public function has an example', async () => {
  const codes = (await examplesIn('packages/react/src', 'tsx')).join('\n');
  expect(Object.keys(react).filter((name) => !new RegExp(`\\b${name}[(\\s]`).test(codes))).toEqual([]);
});

test('the published package depends on the client of the same version, and on the React of the app', async () => {
  const read = async (name: string) => JSON.parse(await readFile(`packages/${name}/package.json`, 'utf8'));
  const [{ version }, manifest] = await Promise.all([read('client'), read('react')]);
  expect(manifest).toMatchObject({ version, dependencies: { '@postern/client': version } });
  expect(Object.keys(manifest.dependencies)).toHaveLength(1);
  expect(manifest.peerDependencies).toEqual({ react: '>=18' });
});
