import { describe, expect, test } from 'vitest';
import { mailParts } from '../../src/messages/mail-html.js';
import { createTemplates } from '../../src/messages/templates.js';

const brand = { name: 'Ada & Söhne', color: '#0f766e', logo: undefined };
const templates = createTemplates({ brand, own: new Map() });
const code = { code: '482913', minutes: '5' };

/** The text that a program shows which ignores all elements but those that end a line. */
const shownText = (html: string) =>
  html
    .replace(/^[\s\S]*<\/head>/, '')
    .replaceAll(/<br>|<\/tr>/g, '\n')
    .replaceAll(/<\/td>/g, ' ')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&amp;', '&')
    .replaceAll('&quot;', '"')
    .replaceAll('&nbsp;', '');

test('parts are paragraphs, indented values, and facts', () => {
  const template = 'Two lines\nof text: no fact\n\n    {code}\n \nWhen: {time}\nDevice: {device}\n\nOne: line';
  expect(mailParts(template)).toEqual([
    { type: 'paragraph', text: 'Two lines\nof text: no fact' },
    { type: 'value', text: '{code}' },
    {
      type: 'facts',
      facts: [
        { name: 'When', text: '{time}' },
        { name: 'Device', text: '{device}' },
      ],
    },
    { type: 'paragraph', text: 'One: line' },
  ]);
});

describe('the HTML of a mail', () => {
  test.each(['email.code', 'email.new_device', 'email.pin_recovery', 'email.webhook_gone'])(
    'of %s says the same as its text, in both languages',
    (kind) => {
      for (const locale of ['en', 'es']) {
        const facts = { time: '2026-11-28 10:00 UTC', device: 'Fairphone "5"', host: 'h.example', id: '7' };
        const values = { ...code, ...facts, console: 'https://example.com/console' };
        const { text, html, subject } = templates.render(kind, locale, values);
        const words = (value: string) => value.replaceAll(/[:\s]+/g, ' ').trim();
        expect(words(shownText(html))).toBe(words(`${brand.name} ${text}`));
        expect(html).toContain(`<html lang="${locale}">`);
        expect(html).toContain(`<title>${subject.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}</title>`);
      }
    },
  );

  test('contains values as text only, and a value adds no part', () => {
    const device = '<img src=x onerror=alert(1)>" style="\n\n    https://evil.example/\n\nCode: 1\nPIN: 2';
    const { html } = templates.render('email.new_device', 'en', { time: 'now', device });
    expect(html).not.toContain('<img');
    expect(html).not.toContain('href');
    const plain = templates.render('email.new_device', 'en', { time: 'now', device: 'x' }).html;
    for (const element of ['<tr>', '<td', '<table'])
      expect(html.split(element)).toHaveLength(plain.split(element).length);
  });

  test('links only to an address of the web', () => {
    const linkOf = (console: string) =>
      /href="([^"]*)"/.exec(templates.render('email.webhook_gone', 'en', { console, id: '7' }).html)?.[1];
    expect(linkOf('https://example.com/console')).toBe('https://example.com/console/webhooks/7');
    expect(linkOf('javascript:alert(1)//')).toBeUndefined();
    expect(linkOf('https://example.com/"onclick="')).toBe('https://example.com/&quot;onclick=&quot;/webhooks/7');
  });

  test('shows the logo at half of its size with the name as its text, and needs no other file', () => {
    const logo = { png: Buffer.alloc(1), width: 301, height: 96 };
    const { html } = createTemplates({ brand: { ...brand, logo }, own: new Map() }).render('email.code', 'en', code);
    expect(html).toContain('<img src="cid:logo@postern" alt="Ada &amp; Söhne" width="151" height="48"');
    expect(html.match(/(src|href|url\()/g)).toEqual(['src']);
    expect(html).toContain('border-top:4px solid #0f766e');
  });

  test('has light colours in attributes, for programs that remove the style element', () => {
    const { html } = templates.render('email.code', 'en', code);
    const stripped = html.replace(/<style>[\s\S]*<\/style>/, '');
    expect(stripped).toContain('bgcolor="#ffffff"');
    expect(stripped).toContain('color:#18181b');
    expect(html.length).toBeLessThan(10_000);
  });
});
