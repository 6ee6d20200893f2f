import { expect, test } from 'vitest';
import { readLoginLink } from '../../src/index.js';

const id = '2c1f8f6e-6f0b-4b9e-9a53-4b7a1d0b8a53';

test('a link of a mail has the login and the code', () => {
  expect(readLoginLink(`https://app.example.com/login#${id}.012345`)).toEqual({ id, code: '012345' });
});

test.each([
  'https://app.example.com/',
  `https://app.example.com/#${id}`,
  `https://app.example.com/#${id}.12345`,
  `#x${id}.123456`,
])('%s is no such link', (address) => expect(readLoginLink(address)).toBeNull());
