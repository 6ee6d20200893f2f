import { expect, test } from 'vitest';
import { compileErrors, examplesIn } from '../../../test/support/package-examples.js';
import * as elements from '../src/index.js';

const sources = 'packages/elements/src';

test('every public function and class has an example', async () => {
  const codes = (await examplesIn(sources)).join('\n');
  const missing = Object.entries(elements)
    .filter(([name, { prototype }]) => {
      const tag = 'tag' in prototype.constructor ? `${prototype.constructor.tag}` : undefined;
      return !codes.includes(tag === undefined ? `${name}(` : `'${tag}'`);
    })
    .map(([name]) => name);
  expect(missing).toEqual([]);
});

test('the examples in the README and the comments compile in a project for browsers', {
  timeout: 120_000,
}, async () => {
  const codes = await examplesIn(sources);
  expect(codes.length).toBeGreaterThan(2);
  const paths = {
    '@postern/client': 'packages/client/src/index.ts',
    '@postern/client/internal': 'packages/client/src/internal.ts',
    '@postern/elements': `${sources}/index.ts`,
    '@postern/elements/*': `${sources}/*/index.ts`,
  };
  expect(await compileErrors(codes, 'browser', paths)).toBe('');
});
