import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPage, root } from './markdown.js';

const page = 'docs/operations/monitor.md';

/** The messages of warnings and errors in the code. Each `${…}` in a message is replaced by an ellipsis. */
function messagesOfCode(): string[] {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const texts = files
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(root, 'src', file), 'utf8'));
  const calls = /\blog\??\.(?:warn|error|fatal)\(\s*(?:\{[^}]*\}|[\w.]+),\s*(['`])((?:\\.|(?!\1).)+)\1/g;
  const messages = texts.flatMap((text) => [...text.matchAll(calls)].map(([, , message = '']) => message));
  // Skips messages that begin with the result of a function (`…; see …`): their beginning is not in the code, so it cannot
  // be compared with the page.
  return messages.map((message) => message.replace(/\$\{[^}]*\}/g, '…')).filter((message) => !/^…;/.test(message));
}

test('the page about monitoring explains every warning and error of the log', () => {
  const [, section = ''] = readPage(page).split('\n## Log messages\n');
  const [table = ''] = section.split('\n## ', 1);
  const rows = table.split('\n').flatMap((line) => line.split('|')[1] ?? []);
  const spans = rows.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text));
  const patterns = spans.map((text) => {
    const parts = text.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    return new RegExp(`^${parts.join('.*')}`);
  });
  const messages = messagesOfCode();
  expect(messages.length).toBeGreaterThan(50);
  expect(messages.filter((message) => !patterns.some((pattern) => pattern.test(message)))).toEqual([]);
});
