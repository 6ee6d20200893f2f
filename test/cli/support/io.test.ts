import { expect, it } from 'vitest';
import { printJson, printLine, printTable } from '../../../src/cli/support/io.js';

const hostile = 'Ann\u001b[2J\u009b2J\u007f\u202eevil\u0007\r';
const unsafe = /(?![\t\n])\p{Cc}|\p{Bidi_Control}/u;

it.each([
  ['a line', (output: { write(text: string): unknown }) => printLine(output, hostile)],
  ['a table', (output: { write(text: string): unknown }) => printTable(output, [['NAME'], [hostile]])],
  ['JSON', (output: { write(text: string): unknown }) => printJson(output, { name: hostile, [hostile]: 1 })],
])('%s contains no characters that control a terminal', (_, print) => {
  let text = '';
  print({ write: (part) => (text += part) });
  expect(text).toContain('Ann');
  expect(text).not.toMatch(unsafe);
});

it('JSON has the same value as before', () => {
  let text = '';
  printJson({ write: (part) => (text += part) }, { name: hostile });
  expect(JSON.parse(text)).toEqual({ name: hostile });
});
