import { describe, expect, test } from 'vitest';
import { amrOf } from '../../src/sessions/amr.js';

const of = (authenticator: string, second: string | null = null, proofs: readonly string[] = []) =>
  amrOf({ authenticator, second_factor: second, proven_by: proofs });

describe('the methods of a login', () => {
  test.each<[string, string | null, readonly string[], string]>([
    ['password', null, [], 'pwd'],
    ['sms', null, [], 'sms'],
    ['email', null, [], 'email'],
    ['guest', null, [], ''],
    ['oidc:google', null, [], 'fed'],
    ['oauth:github', null, [], 'fed'],
    ['a-service', null, [], 'fed'],
    ['password', 'totp', [], 'pwd otp mfa'],
    ['password', 'recovery_code', [], 'pwd otp mfa'],
    ['sms', 'passkey', [], 'sms hwk mfa'],
    ['oidc:google', 'totp', [], 'fed otp mfa'],
    // The passkey has not verified its user.
    ['passkey', null, [], 'hwk'],
    ['passkey', 'passkey', [], 'hwk user mfa'],
    ['passkey', 'totp', [], 'hwk otp mfa'],
    ['password', null, ['password'], 'pwd'],
    ['password', null, ['totp'], 'pwd otp mfa'],
    ['password', null, ['passkey'], 'pwd hwk user mfa'],
    ['password', null, ['email'], 'pwd email mfa'],
    ['password', null, ['provider'], 'pwd fed mfa'],
    ['sms', null, ['email'], 'sms email'],
    ['sms', null, ['password', 'email'], 'sms pwd email mfa'],
    ['sms', null, ['pin'], 'sms'],
    ['oidc:google', null, ['provider'], 'fed'],
  ])('by %s and %s, proven by %j', (authenticator, second, proofs, amr) => {
    expect(of(authenticator, second, proofs).join(' ')).toBe(amr);
  });
});
