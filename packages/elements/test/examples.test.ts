import { expect, test } from 'vitest';
import { examplesIn } from '../../../test/support/package-examples.js';
import * as elements from '../src/index.js';

test('every public function and class has an example', async () => {
  const codes = (await examplesIn('packages/elements/src')).join('\n');
  const missing = Object.entries(elements)
    .filter(([name, { prototype }]) => {
      const tag = 'tag' in prototype.constructor ? `${prototype.constructor.tag}` : undefined;
      return !codes.includes(tag === undefined ? `${name}(` : `'${tag}'`);
    })
    .map(([name]) => name);
  expect(missing).toEqual([]);
});
