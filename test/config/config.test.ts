import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.js';
import { errorsOf } from '../support/config.js';

const day = 86_400_000;

describe('NOTIFICATION_RETENTION', () => {
  test('is an age for each listed type, and empty by default', () => {
    expect(readConfig({}).NOTIFICATION_RETENTION).toBeUndefined();
    expect(readConfig({ NOTIFICATION_RETENTION: 'pool:90d, *:365d' }).NOTIFICATION_RETENTION).toEqual({
      pool: 90 * day,
      '*': 365 * day,
    });
  });

  test.each(['pool', 'pool:', 'pool:90', 'pool:1h', 'pool:90d,', 'pool:90d,pool:91d', 'Pool:90d', '__proto__', ':90d'])(
    'cannot be %s',
    (text) => {
      expect(errorsOf({ NOTIFICATION_RETENTION: text })).toEqual([
        'NOTIFICATION_RETENTION must be different types with durations from 1d to 36500d, such as pool:90d,*:365d',
      ]);
    },
  );

  test('accepts only types that can be published', () => {
    expect(errorsOf({ NOTIFICATION_RETENTION: 'pool:90d,paymnet:90d' })).toEqual([
      'NOTIFICATION_RETENTION names types that are not in NOTIFICATION_TYPES: paymnet',
    ]);
    expect(errorsOf({ NOTIFICATION_RETENTION: 'party:90d', NOTIFICATION_TYPES: 'payment,party' })).toEqual([]);
  });
});

describe('breached passwords', () => {
  test('come from a file that is sorted by hash, or from an https URL', () => {
    const [file, url] = ['BREACHED_PASSWORDS_FILE', 'BREACHED_PASSWORDS_URL'];
    expect(errorsOf({ [url]: 'https://api.pwnedpasswords.com/range' })).toEqual([]);
    expect(errorsOf({ [url]: 'http://127.0.0.1/range' })).toEqual([
      `${url} must be https (http needs ALLOW_PRIVATE_NETWORK_TARGETS=true)`,
    ]);
    for (const path of ['package.json', '/nowhere']) {
      expect(errorsOf({ [file]: path })).toEqual([
        `${file} must be the path of a file of lines HASH:count, in the order of the SHA-1 hashes`,
      ]);
    }
  });

  test('cannot come from a file and a URL', () => {
    const folder = mkdtempSync(join(tmpdir(), 'postern-config-'));
    try {
      const path = join(folder, 'breached.txt');
      writeFileSync(path, `${'A'.repeat(40)}:1\n`);
      const env = { BREACHED_PASSWORDS_FILE: path, BREACHED_PASSWORDS_URL: 'https://api.pwnedpasswords.com/range' };
      expect(errorsOf({ BREACHED_PASSWORDS_FILE: path })).toEqual([]);
      expect(errorsOf(env)).toEqual(['BREACHED_PASSWORDS_FILE and BREACHED_PASSWORDS_URL exclude each other']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

test('a number of trusted proxies is a risk where other hosts can connect', () => {
  const warningsOf = (env: Record<string, string>) => readConfig({ SMS_PROVIDER: 'none', ...env }).warnings;
  for (const HOST of ['0.0.0.0', '::', '10.0.0.1', 'auth.internal']) {
    expect(warningsOf({ TRUST_PROXY: '1', HOST })).toEqual([expect.stringMatching(/^TRUST_PROXY=1 trusts every host/)]);
    expect(warningsOf({ TRUST_PROXY: '10.0.0.2,fd00::/8', HOST })).toEqual([]);
    expect(warningsOf({ TRUST_PROXY: '0', HOST })).toEqual([]);
  }
  for (const HOST of ['127.0.0.1', '::1', 'localhost']) expect(warningsOf({ TRUST_PROXY: '2', HOST })).toEqual([]);
});

describe('external authenticators', () => {
  const secret = `whsec_${Buffer.alloc(24).toString('base64')}`;
  const custom = (value: unknown) => errorsOf({ CUSTOM_AUTHENTICATORS: JSON.stringify(value) });
  const oidc = (value: unknown) => errorsOf({ OIDC_PROVIDERS: JSON.stringify(value) });
  const google = { issuer: 'https://accounts.google.com', client_ids: ['an-app'] };

  test('are read from JSON or a file, with one step and RS256 by default', () => {
    const url = 'https://decide.example.com/badge';
    const config = readConfig({
      CUSTOM_AUTHENTICATORS: JSON.stringify({ badge: { url, secret } }),
      OIDC_PROVIDERS: JSON.stringify({ google }),
    });
    expect(config.CUSTOM_AUTHENTICATORS).toMatchObject([{ name: 'badge', url, steps: 1 }]);
    expect(config.CUSTOM_AUTHENTICATORS?.[0]?.secret.reveal()).toBe(secret);
    expect(JSON.stringify(config)).not.toContain(secret);
    expect(config.OIDC_PROVIDERS).toEqual([
      { name: 'google', issuer: google.issuer, clientIds: ['an-app'], algorithms: ['RS256'] },
    ]);
  });

  test('report the errors of all entries', () => {
    const url = 'https://decide.example.com';
    expect(custom([])).toEqual([
      'CUSTOM_AUTHENTICATORS must be a JSON object, or the path of a file that contains one',
    ]);
    expect(errorsOf({ CUSTOM_AUTHENTICATORS: './no-such-file.json' })).toHaveLength(1);
    expect(custom({ Badge: {}, a: 1, b: { url: 'ftp://x', secret }, c: { url, secret: 'x' } })[0]).toMatch(
      /"Badge": the name must match .+; a: must be an object; b: url must be .+; c: secret must be whsec_/,
    );
    expect(custom({ a: { url, secret, steps: 3 } })[0]).toContain('a: steps must be 1 or 2');
    expect(custom({ a: { url, secret, step: 1 } })[0]).toContain('a: unknown members: step');
    expect(custom({ a: { url: 'http://decide.example.com', secret } })).toEqual([
      'CUSTOM_AUTHENTICATORS: url of a must be https (http needs ALLOW_PRIVATE_NETWORK_TARGETS=true)',
    ]);
    expect(oidc({ google: { ...google, issuer: 'https://x.example/?tenant=1' } })[0]).toContain(
      'google: issuer must be',
    );
    expect(oidc({ google: { ...google, client_ids: [] } })[0]).toContain('google: client_ids must be');
    expect(oidc({ google: { ...google, issuer: 'http://x.example' } })[0]).toContain('issuer of google must be https');
  });

  test.each(['none', 'None', 'HS256', 'RS1', 'RS256 ', '', 'ES256K', 'dir'])(
    'never accept the algorithm %j',
    (algorithm) => {
      expect(oidc({ google: { ...google, algorithms: ['RS256', algorithm] } })[0]).toContain(
        'google: algorithms must be',
      );
    },
  );
});

describe('IMAGE_STORAGE', () => {
  const keys = { IMAGE_S3_ACCESS_KEY_ID: 'AKIAEXAMPLE', IMAGE_S3_SECRET_ACCESS_KEY: 'a-secret-key' };

  test('is a bucket with or without a prefix, and needs an access key', () => {
    const read = (IMAGE_STORAGE: string) => readConfig({ IMAGE_STORAGE, ...keys });
    expect(read('s3://my-bucket').IMAGE_STORAGE).toEqual({ bucket: 'my-bucket', prefix: '' });
    expect(read('s3://my.bucket/a/b/').IMAGE_STORAGE).toEqual({ bucket: 'my.bucket', prefix: 'a/b/' });
    expect(JSON.stringify([read('s3://my-bucket'), read('s3://my-bucket').effective])).not.toContain('a-secret-key');
    expect(errorsOf({ IMAGE_STORAGE: 's3://my-bucket' })).toEqual([
      'IMAGE_S3_ACCESS_KEY_ID is required with IMAGE_STORAGE',
      'IMAGE_S3_SECRET_ACCESS_KEY is required with IMAGE_STORAGE',
    ]);
  });

  test('accepts short keys, as stores for development have', () => {
    const short = { IMAGE_S3_ACCESS_KEY_ID: 'test', IMAGE_S3_SECRET_ACCESS_KEY: 'test' };
    expect(errorsOf({ IMAGE_STORAGE: 's3://my-bucket', ...short })).toEqual([]);
    const backup = { BACKUP_S3_ACCESS_KEY_ID: 'test', BACKUP_S3_SECRET_ACCESS_KEY: 'test' };
    expect(errorsOf({ BACKUP_TO: 's3://my-bucket', ...backup })).toEqual([]);
  });

  test.each(['my-bucket', 's3://', 's3://My-Bucket', 's3://bucket//a', 's3://bucket/a b', 's3://bucket/?x', '/images'])(
    'refuses %j',
    (IMAGE_STORAGE) => {
      expect(errorsOf({ IMAGE_STORAGE, ...keys })).toEqual(['IMAGE_STORAGE must be s3://bucket or s3://bucket/prefix']);
    },
  );
});

describe('CONSOLE_PORT', () => {
  test('is a port of its own, on loopback by default', () => {
    expect(readConfig({ CONSOLE_PORT: '8090' })).toMatchObject({ CONSOLE_PORT: 8090, CONSOLE_HOST: '127.0.0.1' });
    expect(errorsOf({ CONSOLE_PORT: '8080' })).toEqual(['CONSOLE_PORT must not be PORT']);
    expect(errorsOf({ CONSOLE_PORT: '0', PORT: '0' })).toEqual([]);
  });

  test('needs a console', () => {
    expect(errorsOf({ CONSOLE_PORT: '8090', CONSOLE: 'off' })).toEqual(['CONSOLE_PORT needs CONSOLE=on']);
  });
});

test.each(['0', '17', '-1', '2.5', 'many'])('WORKERS cannot be %s', (WORKERS) => {
  expect(errorsOf({ WORKERS })).toEqual(['WORKERS must be auto, or a whole number from 1 to 16']);
});

describe('an unknown name', () => {
  test.each([
    ['POSTERN_PORT', 'POSTERN_PORT is not a variable of Postern: use PORT, without the prefix'],
    ['POSTERN_SMS_PROVDER', 'POSTERN_SMS_PROVDER is not a variable of Postern; did you mean SMS_PROVIDER?'],
  ])('%s is an error with a suggestion', (name, error) => {
    expect(errorsOf({ [name]: '1' })).toEqual([error]);
  });

  test('that is nearly a setting is a warning, because it may belong to another program', () => {
    const { warnings } = readConfig({ SMS_PROVDER: 'none', PORTS: '1', LANGUAGE_MODEL: 'x', npm_config_cache: 'x' });
    expect(warnings).toEqual(['SMS_PROVDER is not a variable of Postern; did you mean SMS_PROVIDER?']);
  });
});

describe('the public URL', () => {
  test('may have a path', () => {
    for (const url of [
      'https://example.com',
      'https://example.com/',
      'https://example.com/auth',
      'http://localhost:8080/a/b/',
    ]) {
      expect(readConfig({ PUBLIC_URL: url }).PUBLIC_URL).toBe(url);
    }
  });

  test.each([
    ['https://example.com?a=1', 'a query or a fragment'],
    ['https://example.com/auth?', 'a query or a fragment'],
    ['https://example.com/auth#', 'a query or a fragment'],
    ['https://example.com/#/auth', 'a query or a fragment'],
    ['https://ada@example.com', 'a user name or a password'],
    ['https://ada:secret@example.com', 'a user name or a password'],
    ['https://example.com/v1', 'a path below /v1'],
    ['https://example.com/console/auth', 'a path below /console'],
    ['https://example.com//auth', 'two slashes'],
  ])('%s is refused', (url, what) => {
    expect(errorsOf({ PUBLIC_URL: url })).toEqual([expect.stringContaining(`PUBLIC_URL must not have ${what}`)]);
  });
});
