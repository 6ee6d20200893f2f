import { resolve } from 'node:path';
import { flag, notices, ok, region, type Setting } from './parsers.js';

export const messageSettings = {
  ALLOW_CONSOLE_CODES: {
    parse: flag,
    fallback: 'false',
    about:
      'true: SMS_PROVIDER=console and MAIL_PROVIDER=console also print codes if other machines can reach Postern. Anyone who reads the output can log in as any user.',
  },
  NOTICES: {
    parse: notices,
    fallback: 'push,email',
    about:
      'The channels of notices about new devices, locks and changed credentials: push, email, sms and inbox, joined by commas. inbox needs security in NOTIFICATION_TYPES. none: no notices.',
  },
  TEMPLATES_DIR: {
    parse: (text: string) => ok(resolve(text)),
    about:
      'The folder of your own texts of codes and notices, in files such as `sms.code.fr.txt`; see [templates](templates.md). They are read at start.',
  },
  DEFAULT_REGION: { parse: region, about: 'The region of phone numbers without a country code, such as US.' },
} as const satisfies Record<string, Setting<unknown>>;
