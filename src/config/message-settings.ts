import { resolve } from 'node:path';
import { choice, flag, mailFrom, notices, ok, region, type Setting, signingSecret, smtpUrl, url } from './parsers.js';

export const messageSettings = {
  SMS_PROVIDER: {
    parse: choice('console', 'webhook', 'none'),
    fallback: 'console',
    about:
      'console: codes are printed and shown in the outbox (development). webhook: POST to SMS_WEBHOOK_URL. none: no SMS, so no logins by SMS.',
  },
  SMS_WEBHOOK_URL: { parse: url('http:', 'https:'), about: 'The URL that SMS_PROVIDER=webhook posts codes to.' },
  SMS_WEBHOOK_SECRET: {
    parse: signingSecret,
    about: 'Signs the requests to SMS_WEBHOOK_URL (Standard Webhooks): whsec_ and base64.',
  },
  MAIL_PROVIDER: {
    parse: choice('console', 'smtp', 'none'),
    about:
      'smtp: mail goes to SMTP_URL. console: codes are printed and shown in the outbox (development). none: no mail. When unset: smtp with SMTP_URL; else console if SMS_PROVIDER=console is allowed; else none.',
  },
  SMTP_URL: {
    parse: smtpUrl,
    about:
      'The mail server: smtps://user:password@host (implicit TLS, port 465) or smtp://… (STARTTLS, port 587). With smtp to another machine STARTTLS is required, unless the URL ends in ?tls=none.',
  },
  MAIL_FROM: {
    parse: mailFrom,
    about:
      'The sender of mail: an address, or a name and an address: Example <no-reply@example.com>. Required with SMTP_URL.',
  },
  ALLOW_CONSOLE_CODES: {
    parse: flag,
    fallback: 'false',
    about: 'true: SMS_PROVIDER=console and MAIL_PROVIDER=console are allowed with a HOST that is not loopback.',
  },
  NOTICES: {
    parse: notices,
    fallback: 'push,email',
    about:
      'The channels of notices of logins on new devices, of locks after wrong secrets and of changed credentials: push, email, sms and inbox, joined by commas. Channels that are not configured are skipped (inbox is configured if NOTIFICATION_TYPES contains security). none: no notices.',
  },
  TEMPLATES_DIR: {
    parse: (text: string) => ok(resolve(text)),
    about:
      'The folder of your own texts of codes and notices, in files such as `sms.code.fr.txt`; see [templates](templates.md). They are read at start.',
  },
  DEFAULT_REGION: { parse: region, about: 'The region of phone numbers without a country code, such as US.' },
} as const satisfies Record<string, Setting<unknown>>;
