import { describe, expect, test } from 'vitest';
import type { MessageTemplate } from '../../../src/contract/category.js';
import { renderMessage, templateErrors } from '../../../src/notifications/templates/templates.js';

const errorsOf = (name: string, template: object, schema: unknown = null) =>
  templateErrors(name, template as MessageTemplate, schema, 'templates.x').map(({ field, code, params }) => [
    field,
    code,
    params,
  ]);

describe('templateErrors', () => {
  test('names an unknown path with its position and the nearest one', () => {
    expect(errorsOf('push.en', { title: '{{actr}}', text: 'Hi {{user.nam}}' })).toEqual([
      ['templates.x.title', 'bad_template', { position: 1, reason: 'there is no actr', suggestion: 'actor' }],
      ['templates.x.text', 'bad_template', { position: 4, reason: 'there is no user.nam', suggestion: 'user.name' }],
    ]);
  });

  test('checks paths below data only with a schema', () => {
    const text = '{{data.sum}} {{#data.lines}}{{nam}}{{actor}}{{/data.lines}}';
    expect(errorsOf('push.en', { text })).toEqual([]);
    const lines = { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } };
    const schema = { type: 'object', properties: { summe: { type: 'number' }, lines } };
    expect(errorsOf('push.en', { text }, schema)).toEqual([
      ['templates.x.text', 'bad_template', { position: 1, reason: 'there is no data.sum', suggestion: 'data.summe' }],
      ['templates.x.text', 'bad_template', { position: 29, reason: 'there is no nam', suggestion: 'name' }],
    ]);
    expect(errorsOf('push.en', { text }, { ...schema, additionalProperties: { type: 'string' } })).toEqual([]);
    expect(errorsOf('push.en', { text }, { anyOf: [schema] })).toEqual([]);
  });

  test('reports the first 20 wrong paths of a template, because each is compared with all right ones', () => {
    const schema = { type: 'object', properties: { sum: { type: 'number' } } };
    expect(errorsOf('push.en', { text: '{{data.sun}} '.repeat(50) }, schema)).toHaveLength(20);
  });

  test('refuses parts of other channels, line breaks in subjects, long sources and other names', () => {
    expect(errorsOf('sms.en', { text: 'x', html: 'x' })).toEqual([
      ['templates.x.html', 'not_of_channel', { channel: 'sms', allowed: 'text' }],
    ]);
    for (const subject of ['a\r\nBcc: x', 'a\nb', 'a\u0000']) {
      expect(errorsOf('email.en', { subject, text: 'x' })).toEqual([
        ['templates.x.subject', 'invalid_characters', undefined],
      ]);
    }
    expect(errorsOf('email.en', { text: '€'.repeat(21_846) })).toEqual([
      ['templates.x.text', 'too_many_bytes', { max: 65_536 }],
    ]);
    for (const name of ['en', 'push', 'push.', 'fax.en', 'push.e_n', 'push.en.x', 'push.1234567890']) {
      expect(errorsOf(name, { text: 'x' })).toEqual([['templates.x', 'invalid_template_name', undefined]]);
    }
  });
});

describe('renderMessage', () => {
  const values = {
    actor: 'Grace\r\nBcc: all@example.com',
    description: 'paid you <b>12</b>',
    url: 'https://example.com/1',
    user: { name: 'Ada' },
    app: 'Postern',
    data: { sum: 12 },
  };
  const templates = {
    'email.es': { subject: 'De {{actor}}', text: 'Hola {{user.name}}', html: '<p>{{description}}</p>' },
    'email.es-mx': { text: 'Qué onda {{user.name}}' },
    'email.en': { text: 'Hi {{user.name}}' },
    'push.fr': { text: 'Salut' },
  };
  const message = (channel: 'push' | 'email' | 'sms', locale: string | null) =>
    renderMessage(templates, { channel, locale, timeZone: 'UTC' }, values);

  test.each([
    ['es-MX', 'email.es-mx', 'Qué onda Ada'],
    ['es-AR', 'email.es', 'Hola Ada'],
    ['ES', 'email.es', 'Hola Ada'],
    ['de', 'email.en', 'Hi Ada'],
    [null, 'email.en', 'Hi Ada'],
    ['not a locale', 'email.en', 'Hi Ada'],
  ])('for %s uses the template of the nearest language', (locale, template, text) => {
    expect(message('email', locale)).toMatchObject({ template, text });
  });

  test('writes values into a subject in one line, and escapes them in HTML', () => {
    expect(message('email', 'es')).toEqual({
      template: 'email.es',
      subject: 'De Grace Bcc: all@example.com',
      title: null,
      text: 'Hola Ada',
      html: '<p>paid you &lt;b&gt;12&lt;/b&gt;</p>',
    });
  });

  test('without a template, is the actor, the description and the link', () => {
    expect(message('sms', 'en')).toEqual({
      template: null,
      subject: null,
      title: null,
      text: 'Grace\r\nBcc: all@example.com\npaid you <b>12</b>\nhttps://example.com/1',
      html: null,
    });
    expect(message('push', 'en')).toMatchObject({
      template: null,
      title: 'Grace Bcc: all@example.com',
      text: values.description,
    });
    expect(renderMessage({}, { channel: 'email', locale: 'en', timeZone: 'UTC' }, values).subject).toBe(
      'Grace Bcc: all@example.com: paid you <b>12</b>',
    );
  });
});
