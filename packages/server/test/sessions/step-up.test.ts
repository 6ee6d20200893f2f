import { afterEach, describe, expect, test, vi } from 'vitest';
import { expressSession, type Session, stepUpRefusalOf } from '../../src/index.js';

const now = Date.parse('2030-01-01T12:00:00Z');
const ago = (minutes: number) => new Date(now - minutes * 60_000).toISOString();
const act = { sub: 'o', write: true };
const session = (more: Partial<Session>): Session => ({
  ...{ id: 'i', user_id: 'u', device_id: 'd', created_at: ago(1), expires_at: ago(-14), updated_at: ago(1) },
  ...{ roles: [], claims: {}, authenticated_at: ago(600), amr: ['pwd'], proven_at: null },
  ...more,
});

afterEach(() => vi.useRealTimers());

describe('a session', () => {
  test.each<[string, Partial<Session>, object, boolean]>([
    ['an old login', {}, { within: '10m' }, false],
    ['a login just now', { authenticated_at: ago(9) }, { within: '10m' }, true],
    ['a proof just now', { proven_at: ago(9) }, { within: '10m' }, true],
    ['an old proof', { proven_at: ago(11) }, { within: '10m' }, false],
    ['a login that is too old by milliseconds', { authenticated_at: ago(2) }, { within: 60_000 }, false],
    ['a login within seconds', { authenticated_at: ago(1) }, { within: '61s' }, true],
    ['a login within hours', {}, { within: '11h' }, true],
    ['a login within days', {}, { within: '1d' }, true],
    ['a clock of the database that is ahead', { proven_at: ago(-1) }, { within: '1m' }, true],
    ['a time that is far ahead', { proven_at: ago(-60) }, { within: '10m' }, false],
    ['one factor', {}, { factor: true }, false],
    ['two factors', { amr: ['pwd', 'otp', 'mfa'] }, { factor: true }, true],
    ['a password and a code', { amr: ['pwd', 'email', 'mfa'] }, { factor: true }, false],
    ['two factors long ago', { amr: ['pwd', 'otp', 'mfa'] }, { within: '10m', factor: true }, false],
    ['one factor just now', { proven_at: ago(1) }, { within: '10m', factor: true }, false],
    ['two factors just now', { proven_at: ago(1), amr: ['pwd', 'otp', 'mfa'] }, { within: '10m', factor: true }, true],
    ['no option', {}, {}, true],
    ['an operator who has just logged in', { authenticated_at: ago(1), act }, { within: '10m' }, false],
    ['an operator and no option', { act }, {}, true],
  ])('with %s: %j for %j is enough: %s', (_, more, options, isEnough) => {
    vi.useFakeTimers({ now });
    expect(stepUpRefusalOf(session(more), options) === undefined).toBe(isEnough);
  });

  test('that is not enough gets the challenge of RFC 9470', () => {
    const refusal = stepUpRefusalOf(session({}), { within: '10m', factor: true });
    expect(refusal?.status).toBe(401);
    expect(refusal?.headers['www-authenticate']).toBe(
      'Bearer error="insufficient_user_authentication", error_description="This needs a recent proof of who you are.", max_age="600"',
    );
    expect(JSON.parse(refusal?.body ?? '')).toMatchObject({
      type: 'urn:postern:problem:insufficient_user_authentication',
      errors: [{ code: 'insufficient_user_authentication' }],
      max_age: 600,
      factor: true,
    });
  });

  test('that lacks only a factor gets no max_age', () => {
    const refusal = stepUpRefusalOf(session({}), { factor: true });
    expect(refusal?.headers['www-authenticate']).not.toContain('max_age');
    expect(JSON.parse(refusal?.body ?? '')).not.toHaveProperty('max_age');
  });
});

test.each(['', '10', '0m', '-1m', '10 m', '1w', 0, -1, Number.NaN])('`within` cannot be %j', (within) => {
  expect(() => expressSession({ verify: async () => null }, { within })).toThrow('within');
});
