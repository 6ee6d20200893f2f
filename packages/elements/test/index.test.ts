import { createPostern, memoryStorage } from '@postern/client';
import { expect, test } from 'vitest';
import { defineElements, defineInbox } from '../src/index.js';

test('on a server, importing and defining do nothing', () => {
  expect('customElements' in globalThis).toBe(false);
  const postern = createPostern({ url: 'https://auth.example.com', storage: memoryStorage() });
  defineElements({ postern });
  defineInbox({ postern });
  expect('customElements' in globalThis).toBe(false);
});
