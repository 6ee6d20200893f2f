import { messageChannels } from '../contract/administration.js';

/** The purposes of messages with codes. In the outbox the kind of a message is `<channel>.<purpose>`, such as `sms.code`. */
export const codeKinds = {
  code: 'The code of a login.',
  proof_code: 'The code for re-authentication before a change of the account.',
  address_code: 'The code that confirms a new mail address or phone number.',
  recovery_code: 'The code that recovers a forgotten password or PIN.',
  password_code:
    'The code that an operator has sent, with which the user logs in once and sets a password. Longer than other codes.',
  registration_code: 'The code of a registration.',
  pin_recovery:
    'The PIN is being recovered with a code that was sent to another address of the account. Contains the code that cancels the recovery.',
  registration_unproven:
    'Somebody tried to register with an address of an account that nobody has proven. Says how to recover the account. Contains no code.',
  registration_taken: 'Somebody tried to register with an address that already has an account. Contains no code.',
} as const;
export type CodeKind = keyof typeof codeKinds;

/** Kinds of mails with a code that have no SMS. */
export const codeMailKinds = {
  code_link: 'The code of a login, with `LOGIN_LINK=on`: who asked for it, and a link that shows the code.',
} as const;

/** The events that users are notified of. */
export const noticeKinds = {
  new_device: 'A login on a device on which the user was never logged in before.',
  device_removed:
    'The user had more devices than MAX_DEVICES. The one that was unused for longest was logged out and removed.',
  account_locked: 'Too many wrong secrets have locked the account.',
  token_misused: 'Somebody used a copy of the login of a device. Postern refused it.',
  token_shared: 'Two clients use the login of a device alternately, so it may have been copied.',
  password_changed: 'The password was changed or removed.',
  pin_changed: 'The PIN was changed or removed.',
  email_changed: 'The mail address was changed or removed. The old address gets the notice too.',
  phone_changed: 'The phone number was changed or removed. The old number gets the notice too.',
  username_changed: 'The username was changed or removed.',
  totp_added: 'An authenticator app was enrolled.',
  totp_removed: 'An authenticator app was removed.',
  passkey_added: 'A passkey was enrolled.',
  passkey_removed: 'A passkey was removed.',
  recovery_codes_made: 'New recovery codes have replaced the old ones.',
  external_identity_added: 'An account at an OpenID provider was linked and can log in now.',
  external_identity_removed: 'An account at an OpenID provider was unlinked.',
  logged_out: 'The user has logged out on all devices, or on all other devices.',
  support_login: 'An operator has logged in as the user.',
  support_login_asked: 'An operator asks to log in as the user (SUPPORT_CONSENT=on).',
  account_recovered: 'The account was recovered with a code.',
  pin_recovery:
    'The PIN is being recovered with a code. By SMS and by mail, a message with a code replaces this notice.',
} as const;
export type NoticeKind = keyof typeof noticeKinds;

/**
 * Notices that always come to the inbox and as pushes, whatever NOTICES says: another person wants to act as the user, or does, and only
 * the user can prevent it.
 */
export const alwaysShownNotices: readonly NoticeKind[] = ['support_login_asked', 'support_login'];

/** Notices that a message with a code replaces, by SMS and by mail. */
export const noticesReplacedByCodes: readonly NoticeKind[] = ['pin_recovery'];

/** The mails that operators get. */
export const operatorMailKinds = {
  webhook_gone: 'Postern has disabled a webhook, because its server answered 410. For operators.',
  webhook_failing: 'Postern has disabled a webhook, because its server accepted nothing for five days. For operators.',
} as const;
export type OperatorMailKind = keyof typeof operatorMailKinds;

/** The channels of texts. The inbox shows the text of `push`. */
export const textChannels = [...messageChannels, 'push'] as const;
export type TextChannel = (typeof textChannels)[number];

/** The rules of a template. */
export interface TemplateRules {
  /** When the message is sent, for the documentation. */
  readonly about: string;
  /** The allowed placeholders and their meanings. */
  readonly placeholders: Readonly<Record<string, string>>;
  /** The placeholders that the template must contain. */
  readonly required: readonly string[];
}

/** The purposes without the three whose templates have other placeholders. */
const { registration_taken, registration_unproven, pin_recovery, ...otherCodes } = codeKinds;

const codePlaceholders = {
  app: 'The setting `APP_NAME`.',
  code: 'The code: six digits. In `password_code`, a longer one. In `pin_recovery`, the longer code that cancels the recovery.',
  minutes: 'The lifetime of the code in minutes.',
};
const noticePlaceholders = {
  app: 'The setting `APP_NAME`.',
  device: 'Make, model and system of the device, if known.',
  time: 'The time of the login, the lock or the change, in UTC. In `pin_recovery` by SMS and mail, the time at which the new PIN replaces the old one.',
  address: 'The network of the client, if known. Never the whole address.',
};
const operatorMailPlaceholders = {
  app: codePlaceholders.app,
  time: noticePlaceholders.time,
  host: 'The host of the webhook. Never its URL, which may contain a secret.',
  id: 'The id of the webhook.',
  console: 'The URL of the console.',
};
const codeLinkPlaceholders = {
  ...codePlaceholders,
  link: 'The link. It must be on a line of its own, indented by four spaces.',
  device: 'Make, model and system of the device that asked, if known.',
  time: 'The time of the request, in UTC.',
  address: noticePlaceholders.address,
};
const pinRecoveryPlaceholders = {
  app: codePlaceholders.app,
  code: codePlaceholders.code,
  time: noticePlaceholders.time,
};

/**
 * The rules by kind.
 * @public scripts/generate.mjs writes docs/templates.md from it.
 */
export const textRules: ReadonlyMap<string, TemplateRules> = new Map([
  ...rulesOf(messageChannels, otherCodes, { placeholders: codePlaceholders, required: ['code'] }),
  ...rulesOf(
    messageChannels,
    { registration_taken, registration_unproven },
    { placeholders: { app: codePlaceholders.app }, required: [] },
  ),
  ...rulesOf(textChannels, noticeKinds, { placeholders: noticePlaceholders, required: [] }),
  ...rulesOf(messageChannels, { pin_recovery }, { placeholders: pinRecoveryPlaceholders, required: ['code'] }),
  ...rulesOf(['email'], codeMailKinds, { placeholders: codeLinkPlaceholders, required: ['code', 'link'] }),
  ...rulesOf(['email'], operatorMailKinds, { placeholders: operatorMailPlaceholders, required: [] }),
]);

function rulesOf(
  channels: readonly TextChannel[],
  kinds: Readonly<Record<string, string>>,
  rules: Omit<TemplateRules, 'about'>,
): (readonly [string, TemplateRules])[] {
  return channels.flatMap((channel) =>
    Object.entries(kinds).map(([kind, about]) => [`${channel}.${kind}`, { about, ...rules }] as const),
  );
}
