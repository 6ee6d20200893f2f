import mustache from 'mustache';
import { expect, test, vi } from 'vitest';
import type { MessageTemplate } from '../../../src/contract/category.js';
import { completeCategory } from '../../../src/notifications/categories/category.js';
import { renderDigest } from '../../../src/notifications/deliveries/digest-mail.js';
import { TemplateTooLarge } from '../../../src/notifications/templates/render.js';

const person = { locale: 'en', timeZone: 'UTC', userName: 'Ada', app: 'Splitter' };
const item = (description: string, data: Record<string, unknown> = {}) => ({
  ...{ actor: null, description, extra: { data } },
});
const category = (template: MessageTemplate, maxItems = 100) =>
  completeCategory('club', {
    ...{ digest: { every: '1h', max_items: maxItems }, templates: { 'email.en': template } },
  });
const hundred = Array.from({ length: 100 }, (_, place) => item(`n${place}`, { text: 'x'.repeat(10_000) }));

test('the mail of a digest has the room of one message: what does not fit is counted', async () => {
  for (const text of ['{{description}}{{data.text}}', '{{description}}{{data.text}}{{#data.none}}{{/data.none}}']) {
    const { text: mail } = await renderDigest(category({ text }), { items: hundred, total: 100 }, person);
    expect(Buffer.byteLength(mail)).toBeLessThan(257 * 1024);
    const [first, ...more] = mail.split('\n\n');
    expect(first).toBe(`n0${'x'.repeat(10_000)}`);
    expect(more).toHaveLength(26);
    expect(more.at(-1)).toBe('+ 74');
  }
  const plain = completeCategory('club', { digest: { every: '1h', max_items: 100 } });
  const items = hundred.map(() => item('y'.repeat(20_000)));
  const { text: mail } = await renderDigest(plain, { items, total: 100 }, person);
  expect(mail.split('\n\n').at(-1)).toBe('+ 87');
});

test('the mail of a digest shows the others if one notification is too large, and fails if all are', async () => {
  const items = [item('big', { text: 'x'.repeat(300_000) }), item('one'), item('two')];
  const club = category({ text: '{{description}}{{data.text}}' });
  const { text: mail } = await renderDigest(club, { items, total: 3 }, person);
  expect(mail).toBe('one\n\ntwo\n\n+ 1');
  await expect(renderDigest(club, { items: items.slice(0, 1), total: 2 }, person)).rejects.toThrow(TemplateTooLarge);
});

test('the mail of a digest has a subject of one line', async () => {
  const club = completeCategory('club', { title: { en: 'News\r\nBcc: all@example.org' }, digest: { every: '1h' } });
  const { subject } = await renderDigest(club, { items: hundred.slice(0, 2), total: 2 }, person);
  expect(subject).toBe('News Bcc: all@example.org: 2 new notifications');
});

test('the mail of a digest does the steps of one message', async () => {
  const items = Array.from({ length: 100 }, (_, place) => item(`n${place}`, { lines: Array(500).fill(1) }));
  const club = category({ text: '{{description}}{{#data.lines}}{{/data.lines}}' });
  const { text: mail } = await renderDigest(club, { items, total: 100 }, person);
  expect(mail.split('\n\n')).toHaveLength(100);
  const bomb = category({ text: '{{description}}{{#data.lines}}{{#data.lines}}{{/data.lines}}{{/data.lines}}' });
  await expect(renderDigest(bomb, { items, total: 100 }, person)).rejects.toThrow(TemplateTooLarge);
});

test('the mail of a digest makes no HTML and no subject of its notifications', async () => {
  const items = [item('one', { lines: Array(1000).fill(1) }), item('two')];
  const loop = '{{#data.lines}}{{#data.lines}}x{{/data.lines}}{{/data.lines}}';
  const club = category({ subject: loop, html: loop, text: '{{description}}' });
  expect((await renderDigest(club, { items, total: 2 }, person)).text).toBe('one\n\ntwo');
  await expect(renderDigest(club, { items: items.slice(0, 1), total: 1 }, person)).rejects.toThrow(TemplateTooLarge);
});

test('the mail of a digest parses the template once, and lets other work run between two notifications', async () => {
  const comments = () => ({ text: `{{description}}${`{{! ${'x'.repeat(20)} }}`.repeat(2000)}` });
  const items = hundred.slice(0, 20).map(({ description }) => item(description));
  const parse = vi.spyOn(mustache.Writer.prototype, 'parse');
  await renderDigest(category(comments()), { items, total: 20 }, person);
  expect(parse).toHaveBeenCalledTimes(1);
  parse.mockRestore();
  let turns = 0;
  const count = () => {
    turns += 1;
    turning = setImmediate(count);
  };
  let turning = setImmediate(count);
  await renderDigest(category(comments()), { items, total: 20 }, person);
  clearImmediate(turning);
  expect(turns).toBeGreaterThanOrEqual(19);
});
