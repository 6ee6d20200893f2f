import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.js';
import { errorsOf } from '../support/config.js';

const pem = (type: 'rsa' | 'ec') => {
  const { privateKey } =
    type === 'rsa'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
};
const rsa = pem('rsa');
const twilio = { TWILIO_ACCOUNT_SID: `AC${'0'.repeat(32)}`, TWILIO_AUTH_TOKEN: 'twilio-auth-token-secret' };
const vonage = { VONAGE_APPLICATION_ID: '78d335fa-323d-4114-9c3d-d6f0d48968cf', VONAGE_PRIVATE_KEY: rsa };
const sns = {
  SNS_REGION: 'eu-west-1',
  SNS_ACCESS_KEY_ID: 'AKIAEXAMPLE0EXAMPLE0',
  SNS_SECRET_ACCESS_KEY: 's'.repeat(40),
};

describe('the providers of SMS', () => {
  test('are read in their order, and their secrets are not shown', () => {
    const config = readConfig({
      SMS_PROVIDER: 'vonage, twilio,sns',
      SMS_SENDER: 'Example',
      ...twilio,
      ...vonage,
      ...sns,
    });
    expect(config.SMS_PROVIDER).toEqual(['vonage', 'twilio', 'sns']);
    const shown = JSON.stringify([config.effective, config]);
    for (const secret of [twilio.TWILIO_AUTH_TOKEN, 'PRIVATE KEY', sns.SNS_SECRET_ACCESS_KEY])
      expect(shown).not.toContain(secret);
    expect(config.effective).toContainEqual(
      expect.objectContaining({ name: 'SMS_PROVIDER', value: 'vonage, twilio, sns' }),
    );
    expect(readConfig({ SMS_PROVIDER: 'none' }).SMS_PROVIDER).toEqual([]);
  });

  test('accept keys of any length that providers issue', () => {
    const short = { SNS_REGION: 'eu-west-1', SNS_ACCESS_KEY_ID: 'test', SNS_SECRET_ACCESS_KEY: 'test' };
    expect(errorsOf({ SMS_PROVIDER: 'sns', ...short })).toEqual([]);
    const token = { ...twilio, TWILIO_AUTH_TOKEN: 'token', SMS_SENDER: '+15551234567' };
    expect(errorsOf({ SMS_PROVIDER: 'twilio', ...token })).toEqual([]);
  });

  test('need their settings', () => {
    expect(errorsOf({ SMS_PROVIDER: 'twilio,sns,vonage', ...sns })).toEqual([
      'TWILIO_ACCOUNT_SID is required with SMS_PROVIDER=twilio',
      'TWILIO_AUTH_TOKEN is required with SMS_PROVIDER=twilio',
      'SMS_SENDER is required with SMS_PROVIDER=twilio',
      'VONAGE_APPLICATION_ID is required with SMS_PROVIDER=vonage',
      'VONAGE_PRIVATE_KEY is required with SMS_PROVIDER=vonage',
      'SMS_SENDER is required with SMS_PROVIDER=vonage',
    ]);
    expect(errorsOf({ SMS_PROVIDER: 'twilio', ...twilio, SMS_SENDERS: 'US=+15551234567' })).toHaveLength(1);
    expect(errorsOf({ SMS_PROVIDER: 'twilio', ...twilio, SMS_SENDERS: 'twilio:*=+15551234567' })).toEqual([]);
  });

  test.each([
    ['TWILIO_ACCOUNT_SID', 'SK00', 'must be AC and 32 hexadecimal digits'],
    ['VONAGE_PRIVATE_KEY', pem('ec'), 'must be a private RSA key in PEM'],
    ['VONAGE_PRIVATE_KEY', '/no/such/file', 'must be a key in PEM, or the path of a readable file'],
    ['SNS_REGION', 'sns.example.com/', 'must be a region such as eu-west-1'],
    ['TWILIO_URL', 'http://127.0.0.1', 'must be https (http needs ALLOW_PRIVATE_NETWORK_TARGETS=true)'],
  ])('%s=%j is an error', (name, value, error) => {
    expect(errorsOf({ [name]: value })).toEqual([`${name} ${error}`]);
  });
});

describe('the senders of SMS', () => {
  test('are numbers, short codes, names and messaging services', () => {
    for (const SMS_SENDER of ['+15551234567', '12345', 'Example', 'My Shop 1', `MG${'a'.repeat(32)}`])
      expect(errorsOf({ SMS_SENDER })).toEqual([]);
    for (const SMS_SENDER of ['15551234567', '+0155512345', 'A longer name', '12', 'Ex=ample', 'Café'])
      expect(errorsOf({ SMS_SENDER })).toHaveLength(1);
  });

  test('can differ by country and provider', () => {
    expect(
      readConfig({ SMS_SENDERS: 'US=+15551234567, GB=My Shop,vonage:*=12345,vonage:GB=Shop' }).SMS_SENDERS,
    ).toEqual([
      { provider: undefined, region: 'US', sender: '+15551234567' },
      { provider: undefined, region: 'GB', sender: 'My Shop' },
      { provider: 'vonage', region: undefined, sender: '12345' },
      { provider: 'vonage', region: 'GB', sender: 'Shop' },
    ]);
  });

  test.each(['US', 'USA=Example', 'XX=Example', 'US=Example,US=Other', '*=Example', 'pigeon:US=Example', 'US=', ','])(
    'refuse %j',
    (SMS_SENDERS) => {
      expect(errorsOf({ SMS_SENDERS })).toEqual([
        expect.stringMatching(/^SMS_SENDERS must be different rules such as/),
      ]);
    },
  );
});
