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
      'AUTHENTICATION_TTL for users with a role, also of your app, such as operator:8h,editor:12h. The default for operator and support is 12h; a role of your app with one of these names has no limit. The smallest value counts. A new role also shortens open logins.',
  },
  IDLE_TTL: {
    parse: duration('2s', '3650d'),
    about: 'A login ends if it creates no session for this time. At least twice SESSION_TTL. When unset: no limit.',
  },
  IDLE_TTL_BY_ROLE: {
    parse: byRole(duration('2s', '3650d'), 'duration', 'operator:30m'),
    about:
      'IDLE_TTL for users with a role, also of your app, such as operator:30m,editor:1h. The default for operator and support is 30m, or twice SESSION_TTL if that is longer. The smallest value counts.',
  },
  MAX_DEVICES: {
    parse: integer(1, 10_000),
    fallback: '100',
    about:
      'The number of devices on which a user can be logged in. A further login removes the device that was unused for longest.',
  },
  MAX_DEVICES_BY_ROLE: {
    parse: byRole(integer(1, 10_000), 'number', 'operator:3'),
    about:
      'MAX_DEVICES for users with a role, also of your app, such as operator:3,editor:5. The smallest value counts.',
  },
  SUPPORT_CONSENT: {
    parse: choice('off', 'on'),
    fallback: 'off',
    about:
      'on: an operator can log in as a user only after the user has allowed it. off: the user is notified, and can end it.',
  },
  GUESTS: {
    parse: choice('off', 'on'),
    fallback: 'off',
    about: 'on: `authenticator: "guest"` creates a user without credentials.',
  },
  REGISTRATION: {
    parse: choice('off', 'on'),
    fallback: 'off',
    about:
      'on: people can create accounts with a code to their mail address or phone. This also sets limits for SMS_LIMIT_PER_PREFIX and SMS_LIMIT_TOTAL.',
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
      'Words that nobody may use as a password, also with digits or signs at the end, separated by commas, such as the names of your company and its products. APP_NAME, the host of PUBLIC_URL, and the own names and addresses of the user are refused too.',
  },
  IMPORTED_HASH_COST_LIMIT: {
    parse: integer(0, 10_000),
    fallback: '60',
    about:
      "The maximum total cost of all schemes of imported password hashes, in verifications of Postern's own hash (about 10 ms of a core). Every failed login costs as much. 0: only hashes with Postern's own parameters.",
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
      'What happens to a new password while the list of breached passwords cannot be read: accept or refuse (password_not_checked).',
  },
} as const satisfies Record<string, Setting<unknown>>;

export const pinSettings = {
  PIN_POLICY: {
    parse: choice('required', 'optional', 'off'),
    fallback: 'required',
    about:
      'required: step 2 of a two-step login needs a PIN; if the user has none, any 4 to 12 digits. optional: users without a PIN may omit it. off: PINs are ignored.',
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
      'The delay after which a recovered PIN takes effect. Until then, the user can cancel it. 0: no delay, so a thief with the SIM card could set the PIN.',
  },
} as const satisfies Record<string, Setting<unknown>>;

export const factorSettings = {
  SECOND_FACTOR: {
    parse: factorPolicy,
    fallback: 'own',
    about:
      'When a login requires a second factor. own: if the user has an authenticator app, or has a role and a passkey. required: always; users without a factor enrol one in the login. off: never.',
  },
  SECOND_FACTOR_BY_ROLE: {
    parse: byRole(factorPolicy, 'policy', 'operator:required'),
    about:
      'SECOND_FACTOR for users with a role, such as support:required,operator:required. A role of your app can only make the policy stricter.',
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
      'The ways to log in that are open, joined by commas: password, sms, email, passkey, oidc:<name>, oauth:<name> and custom:<name>. When unset, every configured way is open.',
  },
  CUSTOM_AUTHENTICATORS: {
    isSecret: true,
    parse: customAuthenticators,
    about: 'Your services that decide on logins, as JSON or the path of a file. See docs/authenticators.md.',
  },
  OIDC_PROVIDERS: {
    isSecret: true,
    parse: oidcProviders,
    about: 'Providers whose accounts can log in, as JSON or the path of a file. See docs/providers.md.',
  },
  LOGIN_LINK: {
    parse: choice('off', 'on'),
    fallback: 'off',
    about: 'on: the mail with the code of a login also shows who asked for it, and has a link. Needs PUBLIC_URL.',
  },
  REDIRECT_URIS: {
    parse: redirectUris,
    about:
      'Addresses of your app, joined by commas. Logins by redirect return to one of them, and links in mails (`link_to`) open one. They are exact, such as https://app.example.com/callback, com.example.app:/callback or http://127.0.0.1/callback (any port). Needs PUBLIC_URL.',
  },
} as const satisfies Record<string, Setting<unknown>>;

export const limitSettings = {
  GUESS_LIMIT: {
    parse: integer(1, 1_000_000),
    fallback: '5',
    about:
      'After this number of wrong secrets in a row, an account is locked for a time (423). Each known device has its own count.',
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
      'After this number of wrong secrets without a right one, an account is locked permanently (403), until 90 days after the last of them. 0: never.',
  },
  HUMAN_CHECK: {
    parse: choice('off', 'altcha'),
    fallback: 'off',
    about:
      'altcha: registrations, guests, recoveries and codes from unknown devices need a proof of work of about a second, which the client packages solve.',
  },
  REQUEST_LIMIT_PER_ADDRESS: {
    parse: rate,
    fallback: '0',
    about:
      'Requests of one client address in each process, such as 100/10s: 100 at once, refilled evenly in 10 seconds. A number alone is per minute. Probes and requests with API keys do not count. 0: no limit.',
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
      'SMS codes per hour to numbers with the same first six digits, also without a user. Requests by username or mail address count together, as one prefix. Further codes are silently not sent. 0: no limit. When unset, 60 with REGISTRATION=on, otherwise no limit.',
  },
  SMS_LIMIT_TOTAL: {
    parse: integer(0, 1_000_000),
    about:
      'SMS codes per hour in total. Further codes are silently not sent. 0: no limit. When unset, 600 with REGISTRATION=on, otherwise no limit.',
  },
} as const satisfies Record<string, Setting<unknown>>;
