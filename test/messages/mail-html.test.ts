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

  /** The colours of the text and of the ground of each part, as a program shows them that ignores `style` elements. */
  test('keeps a contrast of 4.5 to 1 without the style element, in the dark, and where a program inverts the colours', () => {
    const { html } = templates.render('email.pin_recovery', 'en', { ...code, time: '2026-11-28 10:00 UTC' });
    const inline = html.replace(/<style>[\s\S]*<\/style>/, '');
    const inks = new Set([...inline.matchAll(/[";]color:(#\w{6})/g)].map(([, color = '']) => color));
    const grounds = new Set([...inline.matchAll(/background:(#\w{6})/g)].map(([, color = '']) => color));
    expect(inks.size).toBeGreaterThan(0);
    const dark = /<style>([\s\S]*)<\/style>/.exec(html)?.[1] ?? '';
    const darkInks = [...dark.matchAll(/[{ ]color: (#\w{6})/g)].map(([, color = '']) => color);
    const darkGrounds = [...dark.matchAll(/background: (#\w{6})/g)].map(([, color = '']) => color);
    const inverted = (color: string) =>
      `#${(0xffffff - Number.parseInt(color.slice(1), 16)).toString(16).padStart(6, '0')}`;
    for (const [texts, backs] of [
      [[...inks], [...grounds]],
      [darkInks, darkGrounds],
      [[...inks].map(inverted), [...grounds].map(inverted)],
    ]) {
      for (const ink of texts ?? [])
        for (const ground of backs ?? [])
          expect([ink, ground, contrast(ink, ground) >= 4.5]).toEqual([ink, ground, true]);
    }
    // Every element with an ink of its own gets another one in the dark.
    for (const [element] of inline.matchAll(/<\w+[^>]*[";]color:#\w{6}[^>]*>/g))
      expect(element).toMatch(/class="(text|name|value)"/);
  });

  test('keeps a name and its value apart without any style, and where a list of mails shows the text alone', () => {
    const { html } = templates.render('email.new_device', 'es', { time: '2026-11-28 10:00 UTC', device: 'Firefox' });
    const alone = html.replace(/^[\s\S]*<\/head>/, '').replaceAll(/<[^>]*>/g, '');
    expect(alone.replaceAll(/\s+/g, ' ')).toContain('Dispositivo: Firefox');
    expect(html).toMatch(/<table [^>]*cellpadding="4"[^>]*><tr><td class="name"/);
  });

  test('is whole without images and without any style: the name stands for the logo, and the code on a line of its own', () => {
    const logo = { png: Buffer.alloc(1), width: 301, height: 96 };
    const { html } = createTemplates({ brand: { ...brand, logo }, own: new Map() }).render('email.code', 'en', code);
    const bare = html
      .replace(/<style>[\s\S]*<\/style>/, '')
      .replaceAll(/ (style|class|bgcolor)="[^"]*"/g, '')
      .replaceAll(/<img [^>]*alt="([^"]*)"[^>]*>/g, '$1');
    const lines = shownText(bare)
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean);
    expect(lines.slice(0, 3)).toEqual(['Ada & Söhne', 'Your code to sign in to Ada & Söhne is', '482913']);
  });
});

function contrast(one: string, other: string): number {
  const luminance = (color: string) => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
      const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}
