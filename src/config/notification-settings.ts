import { asciiLabels } from '../lib/domain-labels.js';
import type { OutboundAllowlist } from '../lib/outbound-rule.js';
import {
  apnsKey,
  choice,
  duration,
  flag,
  invalid,
  notificationTypes,
  ok,
  type Parsed,
  pattern,
  retention,
  type Setting,
  serviceAccount,
  timeZone,
  url,
  vapidPrivateKey,
  vapidPublicKey,
} from './parsers.js';

export const notificationSettings = {
  NOTIFICATION_TYPES: {
    parse: notificationTypes,
    fallback: 'payment,pool,request',
    about:
      'The notification types that you can publish. Older clients of Postern may know only payment, pool and request.',
  },
  NOTIFICATION_RETENTION: {
    parse: retention,
    about:
      'How long notifications of each type are kept, such as pool:90d,*:365d. * means all types that the list does not name. When unset, notifications are kept without limit.',
  },
  DEFAULT_TIME_ZONE: {
    parse: timeZone,
    fallback: 'UTC',
    about:
      'The time zone of users who have chosen none, such as Europe/Madrid, for quiet hours, digests and dates in mails.',
  },
  OUTBOUND: {
    parse: choice('live', 'allowlist', 'off'),
    fallback: 'live',
    about:
      'Which pushes, mails and SMS of notifications are sent. live: all. allowlist: only to OUTBOUND_ALLOWLIST, for staging. off: none. Codes and notices are always sent.',
  },
  OUTBOUND_ALLOWLIST: {
    parse: outboundAllowlist,
    about:
      'Mail addresses, domains such as @example.com (without subdomains) and phone numbers such as +15551234567, joined by commas. A push is sent if a proven address of its user is listed.',
  },
} as const satisfies Record<string, Setting<unknown>>;

function outboundAllowlist(text: string): Parsed<OutboundAllowlist> {
  const addresses = new Set<string>();
  const domains = new Set<string>();
  for (const entry of text.split(',')) {
    const [, local = '', domain = '', phone] = /^(?:([^\s@*]*)@([^\s@]+)|(\+[1-9]\d{4,14}))$/u.exec(entry.trim()) ?? [];
    const labels = asciiLabels(domain);
    if (phone !== undefined) addresses.add(phone);
    else if (labels === undefined) {
      return invalid(
        'must be addresses, domains such as @example.com and numbers such as +15551234567, joined by commas',
      );
    } else if (local === '') domains.add(labels.join('.'));
    else addresses.add(`${local.toLowerCase()}@${labels.join('.')}`);
  }
  return ok({ addresses, domains });
}

export const pushSettings = {
  VAPID_PUBLIC_KEY: {
    parse: vapidPublicKey,
    about: 'Web Push: the public key, in base64url. `npx web-push generate-vapid-keys` creates a pair.',
  },
  VAPID_PRIVATE_KEY: { isSecret: true, parse: vapidPrivateKey, about: 'Web Push: the private key, in base64url.' },
  VAPID_SUBJECT: {
    parse: url('mailto:', 'https:'),
    about: 'Web Push: the contact for push services, such as mailto:ops@example.com.',
  },
  FCM_SERVICE_ACCOUNT: {
    isSecret: true,
    parse: serviceAccount,
    about: 'FCM: the JSON of a service account that may send messages, or the path of a file with this JSON.',
  },
  FCM_URL: {
    parse: url('http:', 'https:'),
    fallback: 'https://fcm.googleapis.com',
    about: 'FCM: the URL of the API. For tests and proxies.',
  },
  APNS_KEY: {
    isSecret: true,
    parse: apnsKey,
    about: 'APNs: the signing key (.p8) as PEM, or the path of a file with this key.',
  },
  APNS_KEY_ID: {
    parse: pattern(/^[A-Za-z0-9]{10}$/, 'must be the ten characters of a key id'),
    about: 'APNs: the id of the signing key.',
  },
  APNS_TEAM_ID: {
    parse: pattern(/^[A-Za-z0-9]{10}$/, 'must be the ten characters of a team id'),
    about: 'APNs: the id of the team in the Apple developer account.',
  },
  APNS_TOPIC: {
    parse: pattern(/^[A-Za-z0-9.-]{1,255}$/, 'must be a bundle id such as com.example.app'),
    about: 'APNs: the bundle id of the app.',
  },
  APNS_PRODUCTION: {
    parse: flag,
    fallback: 'true',
    about: "APNs: true for Apple's production environment, false for its development environment.",
  },
  APNS_URL: {
    parse: url('http:', 'https:'),
    about:
      "APNs: the URL of the API, instead of Apple's URL. For tests and proxies. An http URL means HTTP/2 without TLS.",
  },
  PUSH_TTL: {
    parse: duration('1m', '28d'),
    fallback: '1d',
    about:
      'How long Postern and the push service try to deliver a push. The time starts when the notification is published.',
  },
  PUSH_URGENCY: {
    parse: choice('normal', 'high'),
    fallback: 'high',
    about: 'high: a push wakes a phone that sleeps. normal: a push may wait until the phone wakes for another reason.',
  },
  PUSH_CLEAR: {
    parse: choice('on', 'off'),
    fallback: 'off',
    about: 'on: when a user reads a notification, their devices get an invisible push that names the pushes to remove.',
  },
} as const satisfies Record<string, Setting<unknown>>;
