import { getCountries, isSupportedCountry } from 'libphonenumber-js';
import { readPrivateKey, readTextOrFile } from '../lib/push-keys.js';
import {
  invalid,
  ok,
  type Parsed,
  pattern,
  rate,
  regions,
  type Setting,
  secret,
  signingSecret,
  url,
} from './parsers.js';

/** Providers that send to phones. Several providers can be configured. */
const phoneProviders = ['webhook', 'twilio', 'vonage', 'sns'] as const;
type PhoneProvider = (typeof phoneProviders)[number];

/** `console`, or providers in the order of preference. Empty: no SMS. */
function smsProviders(text: string): Parsed<readonly (PhoneProvider | 'console')[]> {
  if (text === 'none') return ok([]);
  if (text === 'console') return ok(['console']);
  const names = text.split(',').map((name) => name.trim());
  const knownProviders = names.flatMap((name) => phoneProviders.filter((provider) => provider === name));
  return knownProviders.length === names.length && new Set(knownProviders).size === knownProviders.length
    ? ok(knownProviders)
    : invalid(`must be console, none, or some of ${phoneProviders.join(', ')}, joined by commas`);
}

/** A number in E.164, a short code, a name with a letter, or a messaging service of Twilio. */
const senderPattern = /^(?:\+[1-9]\d{4,14}|\d{3,8}|(?=.*[A-Za-z])[A-Za-z0-9 ]{1,11}|MG[0-9a-fA-F]{32})$/;
const aboutSender = 'a number such as +15551234567, a short code, or a name of at most 11 letters and digits';

/** A sender for a country, a provider, or a country of a provider. */
interface SenderRule {
  readonly provider: PhoneProvider | undefined;
  readonly region: string | undefined;
  readonly sender: string;
}

/** Rules such as `GB=Example`, `vonage:US=+15551234567` and `vonage:*=+15551234567`, joined by commas. */
function smsSenders(text: string): Parsed<readonly SenderRule[]> {
  const rules: SenderRule[] = [];
  for (const rule of text.split(',')) {
    const [, name, regionText = '', sender = ''] = /^\s*(?:([a-z]+):)?([A-Z]{2}|\*)=(.*?)\s*$/.exec(rule) ?? [];
    const provider = phoneProviders.find((candidate) => candidate === name);
    const region = regionText === '*' ? undefined : regionText;
    const isKnown = name === provider && (region === undefined ? provider !== undefined : isSupportedCountry(region));
    const isRepeated = rules.some((other) => other.provider === provider && other.region === region);
    if (!isKnown || isRepeated || !senderPattern.test(sender)) {
      const countries = getCountries().slice(0, 3).join(', ');
      return invalid(
        `must be different rules such as GB=Example or vonage:US=+15551234567, joined by commas: a country (${countries}, …) or provider:country or provider:*, and ${aboutSender}`,
      );
    }
    rules.push({ provider, region, sender });
  }
  return ok(rules);
}

/** A private key on RSA: PEM, or the path of a file that contains it. */
function rsaKey(value: string) {
  const text = readTextOrFile(value, (pem) => pem.includes('-----BEGIN'));
  if (text === undefined) return invalid('must be a key in PEM, or the path of a readable file');
  const key = readPrivateKey(text, 'rsa');
  return key === undefined ? invalid('must be a private RSA key in PEM') : ok(key);
}

export const smsSettings = {
  SMS_PROVIDER: {
    parse: smsProviders,
    fallback: 'console',
    about:
      'console: codes are printed and shown in the outbox (development), while PUBLIC_URL is a loopback URL or unset. none: no SMS, so no logins by SMS. Otherwise one or several of webhook, twilio, vonage and sns, joined by commas: if one fails, the next one sends the message.',
  },
  SMS_SENDER: {
    parse: pattern(senderPattern, `must be ${aboutSender}, or a messaging service of Twilio (MG…)`),
    about:
      'The sender of messages by twilio, vonage and sns: a number such as +15551234567, a short code, a name of at most 11 letters and digits, or a messaging service of Twilio (MG…). Required with twilio and vonage.',
  },
  SMS_SENDERS: {
    parse: smsSenders,
    about:
      'Other senders for some countries or providers, joined by commas: US=+15551234567,GB=Example,vonage:*=+15557654321,vonage:GB=Example. A sender for a provider takes precedence.',
  },
  SMS_COUNTRIES: {
    parse: regions,
    about:
      'The countries to which codes go by SMS, such as ES,PT. Codes to other numbers are silently not sent. When unset, codes go everywhere.',
  },
  SMS_RATE: {
    parse: rate,
    fallback: '0',
    about:
      'The rate of SMS about notifications on all instances together, such as 1/1s. A number alone is per minute. Codes and notices do not count. 0: no limit.',
  },
  SMS_WEBHOOK_URL: { parse: url('http:', 'https:'), about: 'The URL that SMS_PROVIDER=webhook posts codes to.' },
  SMS_WEBHOOK_SECRET: {
    isSecret: true,
    parse: signingSecret,
    about: 'Signs the requests to SMS_WEBHOOK_URL (Standard Webhooks): whsec_ and base64.',
  },
  TWILIO_ACCOUNT_SID: {
    parse: pattern(/^AC[0-9a-fA-F]{32}$/, 'must be AC and 32 hexadecimal digits'),
    about: 'The account of Twilio.',
  },
  TWILIO_AUTH_TOKEN: { isSecret: true, parse: secret(1), about: 'The auth token of the account of Twilio.' },
  TWILIO_URL: { parse: url('http:', 'https:'), fallback: 'https://api.twilio.com', about: 'The API of Twilio.' },
  VONAGE_APPLICATION_ID: {
    parse: pattern(/^[0-9a-fA-F-]{36}$/, 'must be a UUID'),
    about: 'The application of Vonage, with the capability Messages.',
  },
  VONAGE_PRIVATE_KEY: {
    isSecret: true,
    parse: rsaKey,
    about: 'The private key of the application of Vonage: PEM, or the path of its file.',
  },
  VONAGE_SIGNATURE_SECRET: {
    isSecret: true,
    parse: secret(16),
    about: 'Verifies the delivery receipts of Vonage. Without it, there are none.',
  },
  VONAGE_URL: { parse: url('http:', 'https:'), fallback: 'https://api.nexmo.com', about: 'The API of Vonage.' },
  SNS_REGION: {
    parse: pattern(/^[a-z]{2}(?:-[a-z]+)+-\d$/, 'must be a region such as eu-west-1'),
    about: 'The region of Amazon SNS.',
  },
  SNS_ACCESS_KEY_ID: {
    parse: pattern(/^[^\s/]{3,128}$/, 'must be the id of an access key'),
    about: 'The access key of AWS, with the permission sns:Publish.',
  },
  SNS_SECRET_ACCESS_KEY: { isSecret: true, parse: secret(1), about: 'The secret of the access key of AWS.' },
  SNS_URL: {
    parse: url('http:', 'https:'),
    about: 'The API of Amazon SNS. The default is that of the region.',
  },
} as const satisfies Record<string, Setting<unknown>>;

/** The URL of Amazon SNS: that of the region, unless it is set. */
export function snsUrl({
  SNS_URL,
  SNS_REGION,
}: {
  SNS_URL: string | undefined;
  SNS_REGION: string | undefined;
}): string {
  return SNS_URL ?? `https://sns.${SNS_REGION}.amazonaws.com`;
}
