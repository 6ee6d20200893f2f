import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.js';
import { mailProviders } from '../../src/config/contradictions.js';
import { errorsOf } from '../support/config.js';

const smtp = { SMTP_URL: 'smtps://relay:a-relay-password@mail.example.com', MAIL_FROM: 'no-reply@example.com' };
const resend = { RESEND_API_KEY: 're_an-api-key-of-resend' };
const publicHost = { HOST: '0.0.0.0', SMS_PROVIDER: 'none' };

describe('MAIL_PROVIDER', () => {
  test.each([
    [{}, ['console']],
    [smtp, ['smtp']],
    [publicHost, []],
    [{ ...publicHost, ALLOW_CONSOLE_CODES: 'true' }, ['console']],
    [{ ...publicHost, ...smtp }, ['smtp']],
    [{ ...smtp, MAIL_PROVIDER: 'none' }, []],
    [{ ...smtp, ...resend, MAIL_PROVIDER: 'resend, smtp' }, ['resend', 'smtp']],
  ] as const)('of %o is %j', (env, providers) => {
    expect(mailProviders(readConfig(env))).toEqual(providers);
  });

  test('prints codes only on a loopback host, unless ALLOW_CONSOLE_CODES is set', () => {
    expect(errorsOf({ ...publicHost, MAIL_PROVIDER: 'console' })).toEqual([
      'MAIL_PROVIDER=console prints codes: it needs a loopback HOST, or ALLOW_CONSOLE_CODES=true',
    ]);
  });

  test('requires the settings of each provider, and names each missing one once', () => {
    const missing = (provider: string, ...names: string[]) =>
      names.map((name) => `${name} is required with MAIL_PROVIDER=${provider}`);
    expect(errorsOf({ MAIL_PROVIDER: 'smtp' })).toEqual(missing('smtp', 'SMTP_URL', 'MAIL_FROM'));
    expect(errorsOf({ SMTP_URL: smtp.SMTP_URL })).toEqual(missing('smtp', 'MAIL_FROM'));
    expect(errorsOf({ MAIL_PROVIDER: 'resend,ses,webhook' })).toEqual([
      ...missing('resend', 'RESEND_API_KEY', 'MAIL_FROM'),
      ...missing('ses', 'SES_REGION', 'SES_ACCESS_KEY_ID', 'SES_SECRET_ACCESS_KEY'),
      ...missing('webhook', 'MAIL_WEBHOOK_URL', 'MAIL_WEBHOOK_SECRET'),
    ]);
  });

  test('names known providers, each once', () => {
    for (const MAIL_PROVIDER of ['pigeon', 'smtp,pigeon', 'smtp,smtp', 'smtp,console', 'none,smtp', ',']) {
      expect(errorsOf({ ...smtp, MAIL_PROVIDER })).toEqual([
        'MAIL_PROVIDER must be console, none, or some of smtp, ses, resend, webhook, joined by commas',
      ]);
    }
  });

  test('calls its providers by https, unless private networks are allowed', () => {
    const urls = { RESEND_URL: 'http://a.example', SES_URL: 'http://b.example', MAIL_WEBHOOK_URL: 'http://c.example' };
    expect(errorsOf(urls)).toEqual(
      Object.keys(urls).map((name) => `${name} must be https (http needs ALLOW_PRIVATE_NETWORK_TARGETS=true)`),
    );
  });

  test('has reports of a topic of Amazon SNS, and passwords of Postmark that nobody guesses', () => {
    const read = (POSTMARK_WEBHOOK_SECRET: string) =>
      readConfig({ POSTMARK_WEBHOOK_SECRET }).POSTMARK_WEBHOOK_SECRET?.map((secret) => secret.reveal());
    expect(read('postmark:a-long-password, another-long-password')).toEqual([
      'postmark:a-long-password',
      'another-long-password',
    ]);
    expect(errorsOf({ POSTMARK_WEBHOOK_SECRET: 'short', SES_TOPIC_ARN: 'mail-events' })).toEqual([
      'SES_TOPIC_ARN must be the ARN of a topic',
      'POSTMARK_WEBHOOK_SECRET must have at least 16 characters and no space, or be several such secrets joined by commas',
    ]);
  });

  test('webhook has one secret, or several while one is replaced', () => {
    const [one, other] = ['a', 'b'].map((letter) => `whsec_${Buffer.from(letter.repeat(32)).toString('base64')}`);
    const read = (MAIL_WEBHOOK_SECRET: string) =>
      readConfig({ MAIL_WEBHOOK_SECRET }).MAIL_WEBHOOK_SECRET?.map((secret) => secret.reveal());
    expect([read(`${one}`), read(`${one}, ${other}`)]).toEqual([[one], [one, other]]);
    expect(errorsOf({ MAIL_WEBHOOK_SECRET: `${one},short` })).toEqual([
      'MAIL_WEBHOOK_SECRET must be whsec_ followed by base64 of at least 24 bytes, or several of these joined by commas',
    ]);
  });
});

describe('MAIL_FROM', () => {
  test.each([
    ['no-reply@example.com', { name: '', address: 'no-reply@example.com' }],
    ['"Example, Inc. <EU>" <no-reply@example.com>', { name: 'Example, Inc. <EU>', address: 'no-reply@example.com' }],
    [
      '"A \\"quoted\\" \\\\ name"<no-reply@example.com>',
      { name: 'A "quoted" \\ name', address: 'no-reply@example.com' },
    ],
    ['"" <no-reply@example.com>', { name: '', address: 'no-reply@example.com' }],
    ['no-reply@bücher.example', { name: '', address: 'no-reply@xn--bcher-kva.example' }],
    ['Bücher <no-reply@BÜCHER.example>', { name: 'Bücher', address: 'no-reply@xn--bcher-kva.example' }],
    ['Café & Co <a.b+c@example.com>', { name: 'Café & Co', address: 'a.b+c@example.com' }],
  ])('may be %s', (text, from) => {
    expect(readConfig({ MAIL_FROM: text }).MAIL_FROM).toEqual(from);
  });

  test.each([
    'example.com',
    'a@b, c@d',
    'X <a@b',
    'X <a@b>, <c@d>',
    'a b@example.com',
    'X\n <a@example.com>',
    '@b',
    'a@',
    '"X <a@example.com>',
    '"X" Y <a@example.com>',
    '"X\n" <a@example.com>',
    '"a b"@example.com',
    'a@xn--a.example',
    'a@exa mple.com',
  ])('cannot be %j', (text) => {
    expect(errorsOf({ MAIL_FROM: text })).toEqual([expect.stringMatching(/^MAIL_FROM must be an address/)]);
  });
});

test('printing the configuration does not reveal the password of SMTP_URL', () => {
  const config = readConfig(smtp);
  expect(config.SMTP_URL?.password?.reveal()).toBe('a-relay-password');
  expect(`${JSON.stringify(config)} ${String(config.SMTP_URL?.password)}`).not.toContain('a-relay-password');
});
