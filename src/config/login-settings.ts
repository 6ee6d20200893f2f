import { maxSessionDays } from '../lib/times.js';
import { customAuthenticators } from './authenticators.js';
import { oidcProviders, redirectUris } from './identity-providers.js';
import {
  byRole,
  choice,
  duration,
  factorPolicy,
  flag,
  hashList,
  integer,
  loginMethods,
  orZero,
  passkeyOrigins,
  pattern,
  rate,
  type Setting,
  url,
  words,
} from './parsers.js';

export const accountSettings = {
  SESSION_TTL: { parse: duration('1s', `${maxSessionDays}d`), fallback: '15m', about: 'Lifetime of a session token.' },
  AUTHENTICATION_TTL: {
    parse: duration('1s', '3650d'),
    fallback: '365d',
    about: 'Lifetime of an authentication token.',
  },
  AUTHENTICATION_TTL_BY_ROLE: {
    parse: byRole(duration('1s', '3650d'), 'duration', 'operator:8h'),
    about:
      'AUTHENTICATION_TTL for users with a role, such as operator:8h,support:12h, or with a role that your app gives. operator and support have 12h if it does not name them; a role of your app with one of these names has no limit. The smallest value holds. A role that a user gets later also shortens the open logins of the user.',
  },
  IDLE_TTL: {
    parse: duration('2s', '3650d'),
    about:
      'A login ends if no session is created with it for this time. At least twice SESSION_TTL, because a client gets a new session only when the last one ends. When unset: no limit.',
  },
  IDLE_TTL_BY_ROLE: {
    parse: byRole(duration('2s', '3650d'), 'duration', 'operator:30m'),
    about:
      'IDLE_TTL for users with a role, such as operator:30m,support:1h, or with a role that your app gives. operator and support have the larger of 30m and twice SESSION_TTL if it does not name them. The smallest value holds.',
  },
  MAX_DEVICES: {
    parse: integer(1, 10_000),
    fallback: '100',
    about:
      'The number of devices on which a user can be logged in. At the first session of a login on a further device, Postern logs out and removes the device that was unused for longest, and notifies the user.',
  },
  MAX_DEVICES_BY_ROLE: {
    parse: byRole(integer(1, 10_000), 'number', 'operator:3'),
    about:
      'MAX_DEVICES for users with a role, such as operator:3,support:5, or with a role that your app gives. The smallest value holds.',
  },
  SUPPORT_CONSENT: {
    parse: choice('off', 'on'),
    fallback: 'off',
    about:
      'on: an operator who wants to log in as a user gets a token only after the user has allowed it, in the account. off: the user gets a notification, and can end it.',
  },
  GUESTS: {
    parse: choice('off', 'on'),
    fallback: 'off',
    about:
      'on: `authenticator: "guest"` makes a user without credentials, at most 20 an hour for each client address. A guest gets notifications as every user, and is deleted after 90 days without use.',
  },
  REGISTRATION: {
    parse: choice('off', 'on'),
    fallback: 'off',
    about:
      'on: people can create accounts themselves, with a code to their mail address or phone. SMS_LIMIT_PER_PREFIX and SMS_LIMIT_TOTAL then have limits, unless you set them.',
  },
} as const satisfies Record<string, Setting<unknown>>;

export const passwordSettings = {
  PASSWORD_MIN: {
    parse: integer(8, 128),
    fallback: '8',
    about:
      'Minimum length of a new password in characters. NIST SP 800-63B-4 requires 15 where the password is the only factor.',
  },
  PASSWORD_WORDS: {
    parse: words,
    fallback: '',
    about:
      'Words that are too easy to guess as passwords for your service, separated by commas, such as the names of your company and its products. A password that is one of them, also with digits or signs at its end, is refused. So are APP_NAME, the host of PUBLIC_URL, and the own names and addresses of the user.',
  },
  IMPORTED_HASH_COST_LIMIT: {
    parse: integer(0, 10_000),
    fallback: '60',
    about:
      "The maximum total cost of all schemes of imported password hashes. The unit is one verification of Postern's own hash (about 10 ms of a core). Every failed login costs as much as all these schemes together. `postern schemes list` shows the cost of each scheme. 0: only hashes with Postern's own parameters.",
  },
  BREACHED_PASSWORDS_FILE: {
    parse: hashList,
    about:
      'A file of breached passwords, which users cannot choose: SHA-1 hashes in the order of the hash, as Have I Been Pwned provides it.',
  },
  BREACHED_PASSWORDS_URL: {
    parse: url('http:', 'https:'),
    about:
      'A range API of breached passwords, such as https://api.pwnedpasswords.com/range. It gets the first five characters of the hash.',
  },
  BREACHED_PASSWORDS_FAILURE: {
    parse: choice('accept', 'refuse'),
    fallback: 'accept',
    about:
      'What happens to a new password while the list of breached passwords cannot be read. accept: it is accepted, because an outage must not prevent users from setting passwords. refuse: it is refused with the field error password_not_checked.',
  },
} as const satisfies Record<string, Setting<unknown>>;

export const pinSettings = {
  PIN_POLICY: {
    parse: choice('required', 'optional', 'off'),
    fallback: 'required',
    about:
      'required: the second step of a two-step login needs a PIN. It must be the PIN of the user. If the user has no PIN, any 4 to 12 digits are accepted. So the PIN protects only users who have set one. optional: users without a PIN may omit it. off: PINs are ignored.',
  },
  PIN_ENROL: {
    parse: choice('never', 'first_login'),
    fallback: 'never',
    about: 'first_login: the PIN of the first approved login becomes the PIN of a user without a PIN.',
  },
  PIN_RECOVERY_DELAY: {
    parse: orZero(duration('1s', '30d')),
    fallback: '24h',
    about:
      'The time between the recovery of a PIN with a code and the change of the PIN. Until then, the recovery can be cancelled. Recovery codes go to the same addresses as login codes, so without a delay a thief with the SIM card could also set the PIN. 0: no delay.',
  },
} as const satisfies Record<string, Setting<unknown>>;

export const factorSettings = {
  SECOND_FACTOR: {
    parse: factorPolicy,
    fallback: 'own',
    about:
      'When a login requires a second factor. own: if the user has an authenticator app, or has a role and a passkey. required: always. A user without an app or a passkey enrols one within the login, after a code to the mail address or phone of the account, if there is one. off: never. A login with a passkey that verifies its user needs no other factor.',
  },
  SECOND_FACTOR_BY_ROLE: {
    parse: byRole(factorPolicy, 'policy', 'operator:required'),
    about:
      'SECOND_FACTOR for users with a role, such as support:required,operator:required, or with a role that your app gives: that can only make the policy stricter. An operator can also set the policy of one user.',
  },
  PASSKEY_RP_ID: {
    parse: pattern(
      /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9-]{1,63}$/,
      'must be a domain such as example.com',
    ),
    about:
      'The domain of passkeys. When unset, the host of PUBLIC_URL, else localhost. A change invalidates all passkeys.',
  },
  PASSKEY_ORIGINS: {
    parse: passkeyOrigins,
    about:
      'Where passkeys may be used: origins of pages, such as https://app.example.com and capacitor://localhost, and android:apk-key-hash:… of apps. Wildcards are refused. When unset, the origin of PUBLIC_URL, else http://localhost with the port.',
  },
  PASSKEY_USER_VERIFICATION: {
    parse: choice('preferred', 'required'),
    fallback: 'preferred',
    about:
      'required: only passkeys that verify their user, with a PIN or biometrics. preferred: others too; such a login counts as one factor, not two.',
  },
} as const satisfies Record<string, Setting<unknown>>;

export const authenticatorSettings = {
  LOGIN_METHODS: {
    parse: loginMethods,
    about:
      'The ways to log in that are open, separated by commas: password, sms, email, passkey, oidc:<name>, oauth:<name> and custom:<name>. A login in another way is refused, as if it were not configured. So codes by mail can be off for logins while mail still carries notices and recoveries. When unset, every way that is configured is open.',
  },
  CUSTOM_AUTHENTICATORS: {
    isSecret: true,
    parse: customAuthenticators,
    about:
      'Your services that decide on logins, as JSON or the path of a file: `{"badge":{"url":"https://…","secret":"whsec_…","steps":1}}` is the authenticator `custom:badge`. See docs/authenticators.md.',
  },
  OIDC_PROVIDERS: {
    isSecret: true,
    parse: oidcProviders,
    about:
      'Providers whose accounts can log in, as JSON or the path of a file: `{"google":{"preset":"google","client_id":"…","client_secret":"…","sign_up":true}}` is the authenticator `oidc:google`. The presets are google, apple, microsoft and github. Without a preset, `issuer` names an OpenID provider. `acr_values` and `max_age` say how and when people have to log in there. See docs/providers.md.',
  },
  LOGIN_LINK: {
    parse: choice('off', 'on'),
    fallback: 'off',
    about:
      'on: the mail with the code of a login also says who asked for it, and has a link. The link opens a page that shows the code, or the page of your app that `link_to` names. Opening it uses nothing up. Needs PUBLIC_URL.',
  },
  REDIRECT_URIS: {
    parse: redirectUris,
    about:
      'Where a login at a provider or on the pages of PAGES may return to, and where links in mails may lead (`link_to`), joined by commas: the exact addresses of pages and apps, such as https://app.example.com/callback, com.example.app:/callback or http://127.0.0.1/callback (any port). Needs PUBLIC_URL.',
  },
} as const satisfies Record<string, Setting<unknown>>;

export const limitSettings = {
  GUESS_LIMIT: {
    parse: integer(1, 1_000_000),
    fallback: '5',
    about:
      'The number of wrong secrets in a row after which an account is locked for a time (423). Known and unknown devices are counted separately.',
  },
  GUESS_LOCK: {
    parse: duration('1s', '3650d'),
    fallback: '30s',
    about: 'Duration of the first lock. Each further lock lasts twice as long.',
  },
  GUESS_LOCK_MAX: { parse: duration('1s', '3650d'), fallback: '1h', about: 'Maximum duration of a lock.' },
  GUESS_LIMIT_PERMANENT: {
    parse: integer(0, 1_000_000),
    fallback: '100',
    about:
      'An account is locked permanently (403) after this number of wrong secrets without a correct one between them. The lock ends 90 days after the last of them. 0: never.',
  },
  HUMAN_CHECK: {
    parse: choice('off', 'altcha'),
    fallback: 'off',
    about:
      'altcha: registrations, guests, the first address of a guest, recoveries and codes from unknown devices need a proof of work, which the client packages of Postern solve by themselves. It costs a person about a second, and more as SMS_LIMIT_PER_PREFIX and SMS_LIMIT_TOTAL fill. No other service is involved.',
  },
  REQUEST_LIMIT_PER_ADDRESS: {
    parse: rate,
    fallback: '0',
    about:
      'Requests of one client address, such as 100/10s: 100 requests may come at once, and the limit refills evenly in 10 seconds. A number alone, such as 600, is per minute. Each process counts for itself. All addresses of an IPv6 network /64 count as one. Probes, and requests with API keys, do not count. 0: no limit.',
  },
  REQUEST_LIMIT_PER_SESSION: {
    parse: rate,
    fallback: '0',
    about: 'Requests of one session, such as 50/10s, which each process counts. 0: no limit.',
  },
  REQUEST_LIMIT_FOR_API_KEYS: {
    parse: flag,
    fallback: 'false',
    about: 'true: REQUEST_LIMIT_PER_ADDRESS also counts requests with API keys.',
  },
  LOGIN_LIMIT_PER_ADDRESS: {
    parse: integer(0, 1_000_000),
    fallback: '300',
    about: 'Login requests per minute of one client address. The same limit applies to one account. 0: no limit.',
  },
  CODE_LIMIT_PER_ADDRESS: {
    parse: integer(0, 1_000_000),
    fallback: '30',
    about: 'Codes, by SMS or mail, that one client address may request per hour. 0: no limit.',
  },
  SMS_LIMIT_PER_PREFIX: {
    parse: integer(0, 1_000_000),
    about:
      'SMS codes per hour to phone numbers with the same first six digits, whether or not a user has the number. All requests that name a username or a mail address instead of a number are counted together, with the same limit. Further codes are silently not sent. 0: no limit. When unset, 60 with REGISTRATION=on, and otherwise no limit.',
  },
  SMS_LIMIT_TOTAL: {
    parse: integer(0, 1_000_000),
    about:
      'SMS codes per hour in total, including those to numbers that no user has. Further codes are silently not sent. 0: no limit. When unset, 600 with REGISTRATION=on, and otherwise no limit.',
  },
} as const satisfies Record<string, Setting<unknown>>;
