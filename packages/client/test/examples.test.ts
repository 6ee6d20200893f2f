import { expect, test } from 'vitest';
import { examplesIn } from '../../../test/support/package-examples.js';
import * as client from '../src/index.js';

test('every public function has an example', async () => {
  const codes = (await examplesIn('packages/client/src')).join('\n');
  const missing = Object.keys(client).filter((name) => !new RegExp(`\\b${name}\\(`).test(codes));
  expect(missing).toEqual([]);
});
