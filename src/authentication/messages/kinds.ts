import { messageChannels } from '../../contract/administration.js';

/** What a code is for. In the outbox a message's kind is `<channel>.<this>`, such as `sms.code`. */
export const codeKinds = {
  code: 'The code of a login.',
  proof_code: 'The code by which one proves oneself once more before something of the account is changed.',
  address_code: 'The code that proves a new mail address or phone number.',
  recovery_code: 'The code that recovers a forgotten password or PIN.',
  registration_code: 'The code of a registration.',
  pin_recovery:
    'Somebody recovers the PIN by a code to another address of the account. Holds the code that cancels it.',
  registration_taken: 'Somebody tried to register with an address that has an account. Holds no code.',
} as const;
export type CodeKind = keyof typeof codeKinds;

/** What a user is told of. */
export const noticeKinds = {
  new_device: 'There was a login on a device that the user was never logged in on.',
  account_locked: 'Wrong secrets have locked the account.',
  password_changed: 'The password was changed or removed.',
  pin_changed: 'The PIN was changed or removed.',
  email_changed: 'The mail address was changed or removed. The old address is told too.',
  phone_changed: 'The phone number was changed or removed. The old number is told too.',
  totp_added: 'An authenticator app was enrolled.',
  totp_removed: 'An authenticator app was removed.',
  passkey_added: 'A passkey was enrolled.',
  passkey_removed: 'A passkey was removed.',
  recovery_codes_made: 'New recovery codes were made in place of the old ones.',
  external_identity_added: 'An account at an OpenID provider was linked, which logs in from then on.',
  external_identity_removed: 'An account at an OpenID provider was unlinked.',
  account_recovered: 'The account was recovered by a code.',
  pin_recovery: 'Somebody recovers the PIN by a code. By SMS and by mail this is a message with a code.',
} as const;
export type NoticeKind = keyof typeof noticeKinds;

/** Notices that a message with a code takes the place of, by SMS and by mail. */
export const noticesBesideCodes: readonly NoticeKind[] = ['pin_recovery'];

/** Where a text is shown; that of `push` is also what the inbox shows. */
export const textChannels = [...messageChannels, 'push'] as const;
export type TextChannel = (typeof textChannels)[number];

/** What a text is about, and what it may hold. */
export interface TextRules {
  readonly about: string;
  /** Names of placeholders and what they stand for. */
  readonly placeholders: Readonly<Record<string, string>>;
  /** Those that it must hold. */
  readonly required: readonly string[];
}

/** All but those that hold something else. */
const { registration_taken, pin_recovery, ...otherCodes } = codeKinds;

const ofCodes = {
  app: 'APP_NAME.',
  code: 'The code: six digits; of pin_recovery the longer one that cancels it.',
  minutes: 'How long the code is good for.',
};
const ofNotices = {
  app: 'APP_NAME.',
  device: 'Make, model and system of the device that it came from, where it is known.',
  time: 'When it happened, in UTC; of pin_recovery by SMS and mail, when the new PIN replaces the old one.',
  address: 'The network that it came from, where it is known: not the whole address.',
};
const ofPinRecoveries = { app: ofCodes.app, code: ofCodes.code, time: ofNotices.time };

/**
 * By kind.
 * @public scripts/generate.mjs writes docs/templates.md from it.
 */
export const textRules: ReadonlyMap<string, TextRules> = new Map([
  ...rulesOf(messageChannels, otherCodes, { placeholders: ofCodes, required: ['code'] }),
  ...rulesOf(messageChannels, { registration_taken }, { placeholders: { app: ofCodes.app }, required: [] }),
  ...rulesOf(textChannels, noticeKinds, { placeholders: ofNotices, required: [] }),
  ...rulesOf(messageChannels, { pin_recovery }, { placeholders: ofPinRecoveries, required: ['code'] }),
]);

function rulesOf(
  channels: readonly TextChannel[],
  kinds: Readonly<Record<string, string>>,
  rules: Omit<TextRules, 'about'>,
): (readonly [string, TextRules])[] {
  return channels.flatMap((channel) =>
    Object.entries(kinds).map(([kind, about]) => [`${channel}.${kind}`, { about, ...rules }] as const),
  );
}
