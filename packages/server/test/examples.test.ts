import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { examplesIn } from '../../../test/support/package-examples.js';
import * as server from '../src/index.js';
import * as next from '../src/next/index.js';
import * as sveltekit from '../src/sveltekit/index.js';
import * as testing from '../src/testing/index.js';

test.each(Object.entries({ server, next, sveltekit, testing }))(
  'every public function and class of %s has an example',
  async (_, exported) => {
    // What comes from the client has its example there.
    const all = await Promise.all(['server', 'client'].map((name) => examplesIn(`packages/${name}/src`)));
    const codes = all.flat().join('\n');
    const missing = Object.entries(exported)
      // An error is recognised, not created.
      .map(([name, { prototype }]) => (prototype instanceof Error ? `instanceof ${name}\\b` : `\\b${name}\\(`))
      .filter((use) => !new RegExp(use).test(codes));
    expect(missing).toEqual([]);
  },
);

test('the published package depends on the client of the same version only', async () => {
  const read = async (name: string) => JSON.parse(await readFile(`packages/${name}/package.json`, 'utf8'));
  const [{ version }, { dependencies }] = await Promise.all([read('client'), read('server')]);
  expect(dependencies).toEqual({ '@postern/client': version });
});
