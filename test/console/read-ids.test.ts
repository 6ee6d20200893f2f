import { expect, test } from 'vitest';
import { readFileText, readList } from '../../console/src/pages/notifications/read-ids.js';

const id = '0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11';
const found = ({ recipients }: ReturnType<typeof readList>) =>
  recipients.map(({ id: text, address }) => [text, address]);

test('a list has ids, mail addresses and phone numbers, as people paste them', () => {
  const read = readList(`${id} Ada@Example.com\n+34 600 11 22 33; (555) 010-0199,nobody\nexternal:a7`);
  expect(found(read)).toEqual([
    [id, undefined],
    ['ada@example.com', 'email'],
    ['+34 600 11 22 33', 'phone'],
    ['(555) 010-0199', 'phone'],
    ['external:a7', undefined],
  ]);
  expect(read.refused).toEqual([{ line: 2, text: 'nobody' }]);
  // Ids are no phone numbers, and short numbers are neither.
  expect(found(readList('00000000-0000-4000-8000-000000000000 12345'))).toEqual([
    ['00000000-0000-4000-8000-000000000000', undefined],
  ]);
});

test('a file has a column of addresses', () => {
  const read = readFileText('name;email\nAda;ada@example.com\nGrace;grace@example.com\n');
  expect(read.column).toBe('email');
  expect(found(read)).toEqual([
    ['ada@example.com', 'email'],
    ['grace@example.com', 'email'],
  ]);
  expect(found(readFileText('{"phone":"+34600112233"}\n{"email":"ada@example.com"}'))).toHaveLength(2);
});
