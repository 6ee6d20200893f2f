import {
  invalid,
  mailFrom,
  ok,
  type Parsed,
  pattern,
  rate,
  Secret,
  type Setting,
  secret,
  signingSecrets,
  smtpUrl,
  url,
} from './parsers.js';

/** Providers that send to mailboxes. Several providers can be configured. */
const mailboxProviders = ['smtp', 'ses', 'resend', 'webhook'] as const;

/** A provider of mail. */
export type MailProviderName = (typeof mailboxProviders)[number] | 'console';

/** `console`, or providers in the order of preference. Empty: no mail. */
function mailProviders(text: string): Parsed<readonly MailProviderName[]> {
  if (text === 'none') return ok([]);
  if (text === 'console') return ok(['console']);
  const names = text.split(',').map((name) => name.trim());
  const known = names.flatMap((name) => mailboxProviders.filter((provider) => provider === name));
  return known.length === names.length && new Set(known).size === known.length
    ? ok(known)
    : invalid(`must be console, none, or some of ${mailboxProviders.join(', ')}, joined by commas`);
}

/** A password, or a user and a password as they stand in a URL. */
function basicCredentials(text: string): Parsed<readonly Secret[]> {
  const credentials = text.split(',').map((part) => part.trim());
  return credentials.every((part) => /^[^\s,]{16,256}$/.test(part))
    ? ok(credentials.map((part) => new Secret(part)))
    : invalid('must have at least 16 characters and no space, or be several such secrets joined by commas');
}

/** Lines of text. A backslash and `n` mean the end of a line, for files of variables. */
function mailFooter(text: string): Parsed<string> {
  const lines = text
    .replaceAll('\\n', '\n')
    .split(/\r?\n/)
    .map((line) => line.trim());
  const footer = lines.join('\n').trim();
  // No control characters but the ends of lines.
  return footer !== '' && footer.length <= 1000 && !/[^\P{Cc}\n]/u.test(footer)
    ? ok(footer)
    : invalid('must be a text of at most 1000 characters');
}

export const mailSettings = {
  MAIL_PROVIDER: {
    parse: mailProviders,
    about:
      'One or several of smtp, ses, resend and webhook, joined by commas: if one fails, the next one sends the mail. console: codes are printed and shown in the outbox (development). none: no mail. When unset: smtp with SMTP_URL; else console if SMS_PROVIDER=console is allowed; else none.',
  },
  MAIL_FROM: {
    parse: mailFrom,
    about:
      'The sender of mail: an address, or a name and an address: Example <no-reply@example.com>. Required with a provider.',
  },
  MAIL_FOOTER: {
    parse: mailFooter,
    about:
      'Your name and postal address, for the end of each mail about a notification that is not critical, with a link to unsubscribe. Many countries require it. \\n begins a new line.',
  },
  MAIL_RATE: {
    parse: rate,
    fallback: '0',
    about:
      'The rate of mails about notifications on all instances together, such as 14/1s. A number alone is per minute. Codes and notices do not count. 0: no limit.',
  },
  SMTP_URL: {
    isSecret: true,
    parse: smtpUrl,
    about:
      'The mail server: smtps://user:password@host (implicit TLS, port 465) or smtp://… (STARTTLS, port 587). With smtp to another machine STARTTLS is required, unless the URL ends in ?tls=none.',
  },
  RESEND_API_KEY: { isSecret: true, parse: secret(1), about: 'The API key of Resend, with the access to send.' },
  RESEND_URL: { parse: url('http:', 'https:'), fallback: 'https://api.resend.com', about: 'The API of Resend.' },
  RESEND_WEBHOOK_SECRET: {
    isSecret: true,
    parse: signingSecrets,
    about:
      'Verifies the events of Resend, which report bounces and complaints: whsec_ and base64. Several, joined by commas, while you replace one. Without this setting, Postern learns of no bounces and complaints.',
  },
  SES_REGION: {
    parse: pattern(/^[a-z]{2}(?:-[a-z]+)+-\d$/, 'must be a region such as eu-west-1'),
    about: 'The region of Amazon SES.',
  },
  SES_ACCESS_KEY_ID: {
    parse: pattern(/^[^\s/]{3,128}$/, 'must be the id of an access key'),
    about: 'The access key of AWS, with the permission ses:SendEmail.',
  },
  SES_SECRET_ACCESS_KEY: { isSecret: true, parse: secret(1), about: 'The secret of the access key of AWS.' },
  SES_CONFIGURATION_SET: {
    parse: pattern(/^[A-Za-z0-9_-]{1,64}$/, 'must be the name of a configuration set'),
    about: 'The configuration set of Amazon SES for all mails. The default is that of the account.',
  },
  SES_TOPIC_ARN: {
    parse: pattern(
      /^arn:aws(?:-cn|-us-gov)?:sns:[a-z0-9-]{1,32}:\d{12}:[A-Za-z0-9_-]{1,256}$/,
      'must be the ARN of a topic',
    ),
    about:
      'The topic of Amazon SNS through which Amazon SES reports bounces and complaints. Without it, there are no reports.',
  },
  SES_URL: {
    parse: url('http:', 'https:'),
    about: 'The API of Amazon SES. The default is that of the region.',
  },
  POSTMARK_WEBHOOK_SECRET: {
    isSecret: true,
    parse: basicCredentials,
    about:
      'If SMTP_URL is a server of Postmark: the password in the URL of its webhook, or user:password. Several, joined by commas, while you replace one.',
  },
  MAIL_WEBHOOK_URL: { parse: url('http:', 'https:'), about: 'The URL that MAIL_PROVIDER=webhook posts mails to.' },
  MAIL_WEBHOOK_SECRET: {
    isSecret: true,
    parse: signingSecrets,
    about:
      'Signs the requests to MAIL_WEBHOOK_URL, and verifies the events of your gateway (Standard Webhooks): whsec_ and base64. Several, joined by commas, while you replace one: all of them sign.',
  },
} as const satisfies Record<string, Setting<unknown>>;

/** The URL of Amazon SES: that of the region, unless it is set. */
export function sesUrl({
  SES_URL,
  SES_REGION,
}: {
  SES_URL: string | undefined;
  SES_REGION: string | undefined;
}): string {
  return SES_URL ?? `https://email.${SES_REGION}.amazonaws.com`;
}
