import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.js';
import { mailProvider } from '../../src/config/contradictions.js';
import { errorsOf } from '../support/config.js';

const smtp = { SMTP_URL: 'smtps://relay:a-relay-password@mail.example.com', MAIL_FROM: 'no-reply@example.com' };
const publicHost = { HOST: '0.0.0.0', SMS_PROVIDER: 'none' };

describe('MAIL_PROVIDER', () => {
  test.each([
    [{}, 'console'],
    [smtp, 'smtp'],
    [publicHost, 'none'],
    [{ ...publicHost, ALLOW_CONSOLE_CODES: 'true' }, 'console'],
    [{ ...publicHost, ...smtp }, 'smtp'],
    [{ ...smtp, MAIL_PROVIDER: 'none' }, 'none'],
  ] as const)('of %o is %s', (env, provider) => {
    expect(mailProvider(readConfig(env))).toBe(provider);
  });

  test('prints codes only on a loopback host, unless ALLOW_CONSOLE_CODES is set', () => {
    expect(errorsOf({ ...publicHost, MAIL_PROVIDER: 'console' })).toEqual([
      'MAIL_PROVIDER=console prints codes: it needs a loopback HOST, or ALLOW_CONSOLE_CODES=true',
    ]);
  });

  test('requires a server and a sender for smtp', () => {
    const missing = (name: string) => `${name} is required to send mail by SMTP`;
    expect(errorsOf({ MAIL_PROVIDER: 'smtp' })).toEqual([missing('SMTP_URL'), missing('MAIL_FROM')]);
    expect(errorsOf({ SMTP_URL: smtp.SMTP_URL })).toEqual([missing('MAIL_FROM')]);
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
