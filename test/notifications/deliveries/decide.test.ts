import { describe, expect, test } from 'vitest';
import { type Decision, decide, type StepFacts } from '../../../src/notifications/deliveries/decide.js';

const sent: StepFacts = {
  channel: 'push',
  condition: 'always',
  wasHandedOver: false,
  notification: { isExpired: false, isRead: false },
  isLate: false,
  user: { isActive: true, isLocked: false },
  wasDelivered: false,
  address: 'proven',
  isSuppressed: false,
  category: { isCritical: false, byDefault: 'on' },
  chosen: { channel: undefined, category: undefined },
  isMuted: false,
  isAllowedOut: true,
};
const answerOf = (facts: Partial<StepFacts>): string => {
  const decision: Decision = decide({ ...sent, ...facts });
  return decision.state === 'send' ? 'send' : `${decision.state}/${decision.reason}`;
};

/** Each reason to refuse, in the order of the questions, with facts that lead to it and to no later one. */
const refusals: readonly (readonly [string, Partial<StepFacts>])[] = [
  ['dropped/notification_deleted', { notification: undefined }],
  ['expired/notification_expired', { notification: { isExpired: true, isRead: false } }],
  ['expired/ttl', { isLate: true }],
  ['dropped/category_deleted', { category: undefined }],
  ['skipped/account_deactivated', { user: { isActive: false, isLocked: false } }],
  ['skipped/account_locked', { user: { isActive: true, isLocked: true } }],
  ['skipped/read', { notification: { isExpired: false, isRead: true } }],
  ['skipped/already_delivered', { condition: 'undelivered', wasDelivered: true }],
  ['skipped/no_address', { address: 'none' }],
  ['skipped/not_proven', { address: 'not_proven' }],
  ['skipped/suppressed', { isSuppressed: true }],
  ['skipped/channel_off', { chosen: { channel: 'off', category: 'on' } }],
  ['skipped/preference_off', { chosen: { channel: undefined, category: 'off' } }],
  ['skipped/preference_off', { chosen: { channel: undefined, topic: 'off', category: 'on' } }],
  ['skipped/muted', { isMuted: true }],
  ['skipped/cap', { isCapped: true }],
  ['held/quiet_hours', { quietUntil: '2026-06-02T07:00:00.000000Z' }],
  ['skipped/sandbox', { isAllowedOut: false }],
];

describe('decide', () => {
  test('sends if nothing speaks against it', () => {
    expect(answerOf({})).toBe('send');
  });

  test.each(refusals)('answers %s', (answer, facts) => {
    expect(answerOf(facts)).toBe(answer);
  });

  const pairs = refusals.flatMap(([first, facts], index) =>
    refusals.slice(index + 1).map(([second, later]) => ({ first, second, facts: { ...later, ...facts } })),
  );
  test.each(pairs)('answers $first before $second', ({ first, facts }) => {
    expect(answerOf(facts)).toBe(first);
  });

  const digested = { isCritical: false, byDefault: 'digest', hasDigest: true, overflow: 'digest' } as const;
  const read = { isExpired: false, isRead: true };
  const chosenOn = { chosen: { channel: undefined, category: 'on' } } as const;
  const hidden = { isExpired: false, isRead: false, isHidden: true };
  test.each<readonly [string, Partial<StepFacts>]>([
    ['digesting/digest', { channel: 'email', category: digested }],
    ['digesting/digest', { channel: 'email', category: digested, isCapped: true, quietUntil: 'later' }],
    ['send', { channel: 'email', category: digested, chosen: { channel: undefined, category: 'on' } }],
    [
      'digesting/cap',
      { channel: 'email', category: digested, chosen: { channel: undefined, category: 'on' }, isCapped: true },
    ],
    // Of another channel, or a notification that came before the digest.
    ['skipped/cap', { category: digested, isCapped: true }],
    ['skipped/cap', { channel: 'email', category: digested, isCapped: true, digest: 'past' }],
    ['send', { channel: 'email', category: digested, digest: 'past' }],
    // Read, so it was in no digest.
    ['skipped/read', { channel: 'email', category: digested, digest: 'past', notification: read }],
    ['skipped/read', { channel: 'email', category: digested, digest: 'past', notification: read, isCapped: true }],
    ['skipped/already_delivered', { channel: 'email', category: digested, digest: 'member', notification: read }],
    ['send', { channel: 'email', category: digested, digest: 'past', notification: read, ...chosenOn }],
    ['send', { channel: 'email', category: digested, digest: 'past', notification: { ...hidden, isRead: true } }],
    ['skipped/already_delivered', { channel: 'email', category: digested, digest: 'member' }],
    // A digest has nothing that the user keeps out of the inbox.
    ['send', { channel: 'email', category: digested, notification: hidden }],
    ['skipped/cap', { channel: 'email', category: digested, notification: hidden, isCapped: true }],
    // What was handed over goes on, and a digest is in no digest.
    ['send', { channel: 'email', category: digested, wasHandedOver: true, isCapped: true }],
    ['send', { channel: 'email', category: digested, isDigest: true, isCapped: true }],
    ['held/quiet_hours', { channel: 'email', category: digested, isDigest: true, quietUntil: 'later' }],
    ['send', { channel: 'email', category: { ...digested, isCritical: true }, isCapped: true, quietUntil: 'later' }],
    // The category has lost its digest since the choice.
    ['send', { channel: 'email', category: { ...digested, hasDigest: false } }],
  ])('answers %s about digests and caps: %j', (answer, facts) => {
    expect(answerOf(facts)).toBe(answer);
  });

  test('answers the first of two reasons that share a fact', () => {
    expect(answerOf({ notification: { isExpired: true, isRead: true } })).toBe('expired/notification_expired');
    expect(answerOf({ user: { isActive: false, isLocked: true } })).toBe('skipped/account_deactivated');
    expect(answerOf({ chosen: { channel: 'off', category: 'off' } })).toBe('skipped/channel_off');
  });

  test('a critical category ignores preferences and mutes, and never a suppression or the sandbox', () => {
    const category = { isCritical: true, byDefault: 'off' } as const;
    const off = { category, chosen: { channel: 'off', category: 'off' }, isMuted: true } as const;
    expect(answerOf(off)).toBe('send');
    expect(answerOf({ ...off, isSuppressed: true })).toBe('skipped/suppressed');
    expect(answerOf({ ...off, isAllowedOut: false })).toBe('skipped/sandbox');
    expect(answerOf({ ...off, address: 'not_proven' })).toBe('skipped/not_proven');
  });

  test('a choice for the category beats its default in both directions', () => {
    const byDefault = (value: 'on' | 'off') => ({ category: { isCritical: false, byDefault: value } });
    expect(answerOf(byDefault('off'))).toBe('skipped/preference_off');
    expect(answerOf({ ...byDefault('off'), chosen: { channel: undefined, category: 'on' } })).toBe('send');
    expect(answerOf({ ...byDefault('off'), chosen: { channel: 'on', category: undefined } })).toBe(
      'skipped/preference_off',
    );
  });

  test('what was read: a push ends whatever its condition is, and other channels only with unread', () => {
    const notification = { isExpired: false, isRead: true };
    expect(answerOf({ notification, wasHandedOver: true })).toBe('dropped/read');
    expect(answerOf({ notification, channel: 'email' })).toBe('send');
    expect(answerOf({ notification, channel: 'email', condition: 'undelivered' })).toBe('send');
    expect(answerOf({ notification, channel: 'email', condition: 'unread' })).toBe('skipped/read');
  });

  test('a mute only stops pushes', () => {
    expect(answerOf({ isMuted: true, channel: 'email' })).toBe('send');
  });
});
