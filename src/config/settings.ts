import {
  accountSettings,
  authenticatorSettings,
  factorSettings,
  limitSettings,
  passwordSettings,
  pinSettings,
} from './login-settings.js';
import { mailSettings } from './mail-settings.js';
import { messageSettings } from './message-settings.js';
import { notificationSettings, pushSettings } from './notification-settings.js';
import type { Parsed, Setting } from './parsers.js';
import {
  administrationSettings,
  backupSettings,
  serviceSettings,
  storageSettings,
  tracingSettings,
} from './service-settings.js';
import { smsSettings } from './sms-settings.js';

/**
 * The settings by the headings of docs/configuration.md, in its order.
 * @public scripts/generate.mjs writes that page from it.
 */
export const settingGroups: Readonly<Record<string, Readonly<Record<string, Setting<unknown>>>>> = {
  'The service': serviceSettings,
  Tracing: tracingSettings,
  'Database, files and keys': storageSettings,
  Backups: backupSettings,
  Administration: administrationSettings,
  'Tokens and registration': accountSettings,
  Passwords: passwordSettings,
  PINs: pinSettings,
  'Second factors and passkeys': factorSettings,
  'Further authenticators': authenticatorSettings,
  'Locks and limits': limitSettings,
  'Codes and notices': messageSettings,
  Mail: mailSettings,
  SMS: smsSettings,
  Notifications: notificationSettings,
  Push: pushSettings,
};

/** Every variable that the service reads. */
export const settings = {
  ...serviceSettings,
  ...tracingSettings,
  ...storageSettings,
  ...backupSettings,
  ...administrationSettings,
  ...accountSettings,
  ...passwordSettings,
  ...pinSettings,
  ...factorSettings,
  ...authenticatorSettings,
  ...limitSettings,
  ...messageSettings,
  ...mailSettings,
  ...smsSettings,
  ...notificationSettings,
  ...pushSettings,
};

/** The settings whose value can also be in a file, by the name of the variable that names the file. */
export const fileSettings: ReadonlyMap<string, string> = new Map(
  Object.entries<Setting<unknown>>(settings).flatMap(([name, { isSecret }]) =>
    isSecret === true ? [[`${name}_FILE`, name]] : [],
  ),
);

/**
 * Former names of settings, which are accepted for one version (decision 40).
 * @public scripts/generate.mjs lists them in docs/configuration.md.
 */
export const formerNames: Readonly<Record<string, keyof typeof settings>> = {
  VERIFY_BATCHING: 'DATABASE_BATCHING',
  SMS_LIMIT_PER_ADDRESS: 'CODE_LIMIT_PER_ADDRESS',
  ALLOW_CONSOLE_SMS: 'ALLOW_CONSOLE_CODES',
};

type Settings = typeof settings;
type Value<S> = S extends { parse: (text: string) => Parsed<infer T> } ? T : never;

/** Values by variable name. Optional where a variable has no fallback. */
export type SettingValues = {
  readonly [Name in keyof Settings]: Settings[Name] extends { fallback: string }
    ? Value<Settings[Name]>
    : Value<Settings[Name]> | undefined;
};
