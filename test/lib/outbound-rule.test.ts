import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.js';
import { createOutboundRule } from '../../src/lib/outbound-rule.js';
import { errorsOf } from '../support/config.js';

const staging = { OUTBOUND: 'allowlist', OUTBOUND_ALLOWLIST: 'Ada@Example.com, @test.example.org,+15551234567' };
function ruleOf(env: Readonly<Record<string, string>>) {
  const { OUTBOUND, OUTBOUND_ALLOWLIST } = readConfig(env);
  return createOutboundRule(OUTBOUND, OUTBOUND_ALLOWLIST);
}

describe('OUTBOUND', () => {
  test('is live by default, and lets everything out', () => {
    const rule = ruleOf({});
    expect([rule(['ada@example.com']), rule([null]), rule([])]).toEqual([true, true, true]);
  });

  test('off lets nothing out', () => {
    const rule = ruleOf({ OUTBOUND: 'off' });
    expect([rule(['ada@example.com']), rule(['+15551234567']), rule([null])]).toEqual([false, false, false]);
  });

  test.each([
    ['ada@example.com', true],
    ['grace@example.com', false],
    ['anybody@test.example.org', true],
    ['anybody@sub.test.example.org', false],
    ['anybody@eviltest.example.org', false],
    ['"a@test.example.org"@example.net', false],
    ['@test.example.org@example.net', false],
    ['test.example.org', false],
    ['+15551234567', true],
    ['+155512345678', false],
    [null, false],
  ])('allowlist lets %s out: %s', (address, isAllowed) => {
    expect(ruleOf(staging)([address])).toBe(isAllowed);
  });

  test('allowlist lets a push out if one of the addresses of its user is listed', () => {
    const rule = ruleOf(staging);
    expect([rule(['grace@example.com', '+15551234567']), rule(['grace@example.com', null]), rule([])]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test('an allowlist that is missing, useless or wrong is an error', () => {
    expect(errorsOf({ OUTBOUND: 'allowlist' })).toEqual(['OUTBOUND_ALLOWLIST is required with OUTBOUND=allowlist']);
    expect(errorsOf({ OUTBOUND_ALLOWLIST: '@example.com' })).toEqual([
      'OUTBOUND_ALLOWLIST needs OUTBOUND=allowlist: all steps are sent now',
    ]);
    for (const text of ['example.com', '@', 'a@', '@example.com,', '15551234567', '+0123', '*@example.com']) {
      const [error] = errorsOf({ OUTBOUND: 'allowlist', OUTBOUND_ALLOWLIST: text });
      expect([text, error]).toEqual([text, expect.stringContaining('OUTBOUND_ALLOWLIST must be addresses')]);
    }
    expect(errorsOf({ OUTBOUND: 'on' })).toEqual([expect.stringContaining('OUTBOUND must be')]);
  });

  test('everything but live is a warning, which the overview and the doctor show', () => {
    expect(readConfig({}).warnings).toEqual([]);
    expect(readConfig({ OUTBOUND: 'off' }).warnings).toEqual([
      'OUTBOUND=off: no step of a notification is sent. Set OUTBOUND=live in production',
    ]);
    expect(readConfig(staging).warnings).toEqual([
      'OUTBOUND=allowlist: steps of notifications are sent only to the addresses of OUTBOUND_ALLOWLIST. Set OUTBOUND=live in production',
    ]);
  });
});
