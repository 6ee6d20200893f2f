import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import webPush from 'web-push';
import { ConfigError, readConfig } from '../../src/config/config.js';

const vapid = webPush.generateVAPIDKeys();
const pem = (type: 'ec' | 'rsa') =>
  (type === 'ec'
    ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
    : generateKeyPairSync('rsa', { modulusLength: 2048 })
  ).privateKey
    .export({ format: 'pem', type: 'pkcs8' })
    .toString();
const account = { project_id: 'a-project', client_email: 'a@b.example', private_key: pem('rsa') };
const web = {
  VAPID_PUBLIC_KEY: vapid.publicKey,
  VAPID_PRIVATE_KEY: vapid.privateKey,
  VAPID_SUBJECT: 'mailto:ops@example.com',
};
const apple = { APNS_KEY: pem('ec'), APNS_KEY_ID: 'ABCDE12345', APNS_TEAM_ID: 'TEAM123456', APNS_TOPIC: 'com.example' };

function errorsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.errors;
    throw error;
  }
}

describe('the configuration of push', () => {
  test('takes keys and accounts as texts', () => {
    expect(errorsOf({ ...web, ...apple, FCM_SERVICE_ACCOUNT: JSON.stringify(account) })).toEqual([]);
  });

  test('takes keys and accounts as files, and keys whose lines are joined by \\n', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'postern-config-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'key.p8'), apple.APNS_KEY);
    await writeFile(join(folder, 'account.json'), JSON.stringify(account));
    const files = { APNS_KEY: join(folder, 'key.p8'), FCM_SERVICE_ACCOUNT: join(folder, 'account.json') };
    expect(errorsOf({ ...apple, ...files })).toEqual([]);
    expect(errorsOf({ ...apple, APNS_KEY: apple.APNS_KEY.replaceAll('\n', '\\n') })).toEqual([]);
  });

  test.each([
    ['mailto:ops@localhost', true],
    ['https://localhost/contact', true],
    ['https://localhost:3000', true],
    ['mailto:ops@mail.local', true],
    ['https://127.0.0.1', true],
    ['https://[::1]/', true],
    ['mailto:ops@example.com', false],
    ['https://example.com/localhost', false],
    ['mailto:localhost@example.com?subject=a@localhost', false],
  ])('warns about a contact that push services cannot reach: %s is one: %s', (subject, isWarned) => {
    const warnings = readConfig({ ...web, VAPID_SUBJECT: subject }).warnings.filter((text) =>
      text.includes('VAPID_SUBJECT'),
    );
    expect(warnings).toHaveLength(isWarned ? 1 : 0);
  });

  test('does not reveal a key when it is printed', () => {
    const config = readConfig({ ...web, ...apple, FCM_SERVICE_ACCOUNT: JSON.stringify(account) });
    const printed = inspect(config, { depth: 9, showHidden: true }) + JSON.stringify(config);
    const keys = [vapid.privateKey, account.private_key, apple.APNS_KEY];
    const parts = keys.flatMap((key) => key.split('\n')).filter((line) => line.length > 20 && !line.includes('---'));
    expect(parts.length).toBeGreaterThan(10);
    expect(parts.filter((part) => printed.includes(part))).toEqual([]);
  });

  test.each([
    [{ VAPID_PUBLIC_KEY: vapid.publicKey }, 'VAPID_PRIVATE_KEY is required with VAPID_PUBLIC_KEY'],
    [{ ...apple, APNS_TOPIC: '' }, 'APNS_TOPIC is required with APNS_KEY and APNS_KEY_ID and APNS_TEAM_ID'],
    [
      { ...web, VAPID_PUBLIC_KEY: webPush.generateVAPIDKeys().publicKey },
      'VAPID_PUBLIC_KEY does not belong to VAPID_PRIVATE_KEY',
    ],
    [{ ...web, VAPID_PRIVATE_KEY: 'short' }, 'VAPID_PRIVATE_KEY must be a private key of 32 bytes in base64url'],
    [{ ...web, VAPID_SUBJECT: 'ops' }, 'VAPID_SUBJECT must be a URL that starts with mailto: or https://'],
    [{ ...apple, APNS_KEY: pem('rsa') }, 'APNS_KEY must be a private key on P-256, as in a .p8 file of Apple'],
    [{ ...apple, APNS_KEY: '/no/such/file' }, 'APNS_KEY must be a key in PEM, or the path of a readable file'],
    [
      { ...apple, APNS_URL: 'http://127.0.0.1:1' },
      'APNS_URL must be https (http needs ALLOW_PRIVATE_NETWORK_TARGETS=true)',
    ],
    [{ FCM_SERVICE_ACCOUNT: '{}' }, 'FCM_SERVICE_ACCOUNT must be the JSON of a service account with its private key'],
    [
      { FCM_SERVICE_ACCOUNT: JSON.stringify({ ...account, token_uri: 'http://127.0.0.1/token' }) },
      'the token_uri of FCM_SERVICE_ACCOUNT must be https (http needs ALLOW_PRIVATE_NETWORK_TARGETS=true)',
    ],
    [{ PUSH_TTL: '29d' }, 'PUSH_TTL must be a duration from 1m to 28d, such as 30s, 15m, 1h or 365d'],
  ])('with an error is refused with a message that names it: %#', (env, expected) => {
    expect(errorsOf(env)).toContain(expected);
  });
});
