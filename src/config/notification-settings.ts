import {
  apnsKey,
  choice,
  duration,
  flag,
  notificationTypes,
  pattern,
  retention,
  type Setting,
  serviceAccount,
  url,
  vapidPrivateKey,
  vapidPublicKey,
} from './parsers.js';

export const notificationSettings = {
  NOTIFICATION_TYPES: {
    parse: notificationTypes,
    fallback: 'payment,pool,request',
    about: 'The notification types that can be published. Clients of the published interface know the first three.',
  },
  NOTIFICATION_RETENTION: {
    parse: retention,
    about:
      'How long notifications are kept, by type, such as pool:90d,*:365d. * is every other type. When unset, notifications are kept without limit.',
  },
} as const satisfies Record<string, Setting<unknown>>;

export const pushSettings = {
  VAPID_PUBLIC_KEY: {
    parse: vapidPublicKey,
    about: 'Web Push: the public key, in base64url. `npx web-push generate-vapid-keys` creates a pair.',
  },
  VAPID_PRIVATE_KEY: { parse: vapidPrivateKey, about: 'Web Push: the private key, in base64url.' },
  VAPID_SUBJECT: {
    parse: url('mailto:', 'https:'),
    about: 'Web Push: the contact for push services, such as mailto:ops@example.com.',
  },
  FCM_SERVICE_ACCOUNT: {
    parse: serviceAccount,
    about: 'FCM: the JSON of a service account that may send messages, or the path of its file.',
  },
  FCM_URL: {
    parse: url('http:', 'https:'),
    fallback: 'https://fcm.googleapis.com',
    about: 'FCM: the URL of the API. For tests and proxies.',
  },
  APNS_KEY: { parse: apnsKey, about: 'APNs: the signing key (.p8) as PEM, or the path of its file.' },
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
    about: "APNs: false for apps of Apple's development environment.",
  },
  APNS_URL: {
    parse: url('http:', 'https:'),
    about: "APNs: the URL of the API, in place of Apple's. For tests and proxies. http is HTTP/2 without TLS.",
  },
  PUSH_TTL: {
    parse: duration('1m', '28d'),
    fallback: '1d',
    about: 'How long after its publication a notification is still pushed, by Postern and by the push service.',
  },
  PUSH_URGENCY: {
    parse: choice('normal', 'high'),
    fallback: 'high',
    about: 'high: a push wakes a sleeping phone. normal: it may wait until the phone wakes.',
  },
} as const satisfies Record<string, Setting<unknown>>;
