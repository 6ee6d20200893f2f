import { describe, expect, test } from 'vitest';
import { parseTemplate } from '../../../src/notifications/templates/parse.js';
import {
  asIs,
  inHtml,
  inOneLine,
  newBudget,
  type RenderingOptions,
  render,
  TemplateTooLarge,
} from '../../../src/notifications/templates/render.js';

function rendered(source: string, data: unknown, options: Partial<RenderingOptions> = {}): string {
  const parsed = parseTemplate(source);
  if ('faults' in parsed) throw new Error(JSON.stringify(parsed.faults));
  const values = { actor: 'Grace', description: 'paid', url: null, user: { name: 'Ada' }, app: 'Postern', data };
  return render(parsed.nodes, { values, locale: 'en', timeZone: 'UTC', escape: asIs, budget: newBudget(), ...options });
}

describe('render', () => {
  test('shows paths, and nothing for what is missing', () => {
    expect(rendered('{{actor}} {{user.name}} {{data.a.b}} {{data.none.b}}|{{data.a}}', { a: { b: 7 } })).toBe(
      'Grace Ada 7 |',
    );
  });

  test('repeats a section for each item, and shows an inverted one if there is none', () => {
    const source =
      '{{#data.lines}}{{name}}: {{.}}{{count}} ({{actor}})\n{{/data.lines}}{{^data.lines}}none{{/data.lines}}';
    expect(rendered(source, { lines: [{ name: 'tea', count: 2 }, { name: 'cake' }] })).toBe(
      'tea: 2 (Grace)\ncake:  (Grace)\n',
    );
    expect(rendered(source, { lines: [] })).toBe('none');
    expect(rendered('{{#data.tags}}<{{.}}>{{/data.tags}}', { tags: ['a', 0, true, null] })).toBe('<a><0><true><>');
  });

  test('shows a section once for an object or a true value', () => {
    expect(
      rendered('{{#data.shop}}{{name}}{{/data.shop}}{{#data.isNew}} new{{/data.isNew}}', {
        shop: { name: 'X' },
        isNew: true,
      }),
    ).toBe('X new');
  });

  test('never reads a value as a template', () => {
    expect(rendered('{{data.a}}', { a: '{{actor}} {{#data}}x{{/data}}' })).toBe('{{actor}} {{#data}}x{{/data}}');
  });

  test('finds own members only', () => {
    expect(
      rendered('{{data.constructor}}{{data.__proto__.toString}}{{data.list.length}}{{data.text.length}}', {
        list: [1],
        text: 'x',
      }),
    ).toBe('');
  });

  test.each([
    ['{{data.n | number}}', { n: 1234.5 }, 'de', '1.234,5'],
    ['{{data.n | number 2}}', { n: '1234.5' }, 'en', '1,234.50'],
    ['{{data.n | currency data.code}}', { n: 12.5, code: 'eur' }, 'en', '€12.50'],
    ['{{data.n | currency "JPY"}}', { n: 1200 }, 'en', '¥1,200'],
    ['{{data.n | currency data.code}}', { n: 12.5, code: 'no code' }, 'en', '12.5'],
    ['{{data.at | date}}', { at: '2026-01-31T23:30:00Z' }, 'en', 'Jan 31, 2026'],
    ['{{data.at | date short}}', { at: '2026-01-31' }, 'es', '31/1/26'],
    ['{{data.at | date}}', { at: 'soon' }, 'en', 'soon'],
    ['{{data.n}} {{data.n | plural one "comment" other "comments"}}', { n: 1 }, 'en', '1 comment'],
    ['{{data.n}} {{data.n | plural one "comment" other "comments"}}', { n: 2 }, 'en', '2 comments'],
    ['{{data.n | plural few "komentarze" other "komentarzy"}}', { n: 3 }, 'pl', 'komentarze'],
  ])('formats %s of %j in %s', (source, data, locale, expected) => {
    expect(rendered(source, data, { locale })).toBe(expected);
  });

  test('shows dates in the zone of the user', () => {
    const at = '2026-01-31T23:30:00Z';
    expect(rendered('{{data.at | date}}', { at }, { timeZone: 'Asia/Tokyo' })).toBe('Feb 1, 2026');
  });

  test('escapes values in HTML, and not the template', () => {
    const value = `</a><script>"'\`=&`;
    expect(rendered('<a href={{data.x}}>', { x: value }, { escape: inHtml })).toBe(
      '<a href=&lt;/a&gt;&lt;script&gt;&quot;&#39;&#96;&#61;&amp;>',
    );
    expect(rendered('{{data.x}}', { x: value })).toBe(value);
  });

  test('keeps values of subjects in one line', () => {
    const value = 'Hi\r\nBcc: all@example.com\u2028\u0000x\u0085';
    expect(rendered('{{data.x}}', { x: value }, { escape: inOneLine })).toBe('Hi Bcc: all@example.com x ');
  });
});

describe('the budget of a message', () => {
  const items = Array.from({ length: 400 }, () => Array.from({ length: 400 }, () => 'x'));

  test('ends loops of loops, also empty ones', () => {
    const data = { items };
    expect(() => rendered('{{#data.items}}{{#.}}{{.}}{{/.}}{{/data.items}}', data)).toThrow(TemplateTooLarge);
    expect(() => rendered('{{#data.items}}{{#.}}{{/.}}{{/data.items}}', data)).toThrow(TemplateTooLarge);
    const short = { items: items.slice(0, 40) };
    expect(rendered('{{#data.items}}{{#.}}{{.}}{{/.}}{{/data.items}}', short)).toHaveLength(16_000);
  });

  test('ends long output, counted in bytes and after escaping', () => {
    const data = { items: items[0], text: '<'.repeat(1000), euro: '€'.repeat(1000) };
    expect(
      rendered('{{#data.items}}{{data.text}}{{/data.items}}', { ...data, items: items[0]?.slice(0, 262) }),
    ).toHaveLength(262_000);
    expect(() => rendered('{{#data.items}}{{data.text}}{{/data.items}}', data)).toThrow(TemplateTooLarge);
    expect(() =>
      rendered(
        '{{#data.items}}{{data.text}}{{/data.items}}',
        { ...data, items: items[0]?.slice(0, 66) },
        { escape: inHtml },
      ),
    ).toThrow(TemplateTooLarge);
    expect(() =>
      rendered('{{#data.items}}{{data.euro}}{{/data.items}}', { ...data, items: items[0]?.slice(0, 90) }),
    ).toThrow(TemplateTooLarge);
  });

  test('is shared by all parts of a message', () => {
    const budget = newBudget();
    const data = { items: items[0] };
    const source = '{{#data.items}}{{.}}{{/data.items}}';
    const partsUntilEnd = () => {
      for (let part = 0; ; part += 1) {
        try {
          rendered(source, data, { budget });
        } catch {
          return part;
        }
      }
    };
    expect(partsUntilEnd()).toBe(62);
  });

  test('counts formats, which take longer than other parts', () => {
    const codes = Array.from({ length: 600 }, (_, n) => ({
      code: ['A', 'B', 'C'].map((_, place) => String.fromCharCode(65 + (Math.floor(n / 26 ** place) % 26))).join(''),
    }));
    const source = '{{#data.codes}}{{data.n | currency code}}{{/data.codes}}';
    expect(() => rendered(source, { n: 1, codes })).toThrow(TemplateTooLarge);
    expect(rendered(source, { n: 1, codes: codes.slice(0, 300) }).length).toBeGreaterThan(300);
  });
});
