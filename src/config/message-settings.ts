import { resolve } from 'node:path';
import { flag, notices, ok, region, type Setting } from './parsers.js';

export const messageSettings = {
  ALLOW_CONSOLE_CODES: {
    parse: flag,
    fallback: 'false',
    about:
      'true: SMS_PROVIDER=console and MAIL_PROVIDER=console are allowed with a HOST that is not loopback, and print codes although PUBLIC_URL is not a loopback URL or a proxy on another machine sends requests. Anyone who reads the output can log in as any user.',
  },
  NOTICES: {
    parse: notices,
    fallback: 'push,email',
    about:
      'The channels of notices of logins on new devices, of locks after wrong secrets and of changed credentials: push, email, sms and inbox, joined by commas. Channels that are not configured are skipped (inbox is configured if NOTIFICATION_TYPES contains security). none: no notices. Notices of support logins always come to the inbox and as pushes.',
  },
  TEMPLATES_DIR: {
    parse: (text: string) => ok(resolve(text)),
    about:
      'The folder of your own texts of codes and notices, in files such as `sms.code.fr.txt`; see [templates](templates.md). They are read at start.',
  },
  DEFAULT_REGION: { parse: region, about: 'The region of phone numbers without a country code, such as US.' },
} as const satisfies Record<string, Setting<unknown>>;
