import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.js';
import { fileSettings } from '../../src/config/settings.js';
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

test.each([
  ...['0.0.0.0/0', '::/0', '0.0.0.0/1,128.0.0.0/1', '10.0.0.2,::/1', '2000::/3', '10.0.0.0/7', '::ffff:0:0/96'],
  ...['::ffff:0.0.0.0/97', '0:0:0:0:0:ffff:0:0/96'],
])('the range of public addresses TRUST_PROXY=%s is a risk, as a number is', (TRUST_PROXY) => {
  const warningsOf = (HOST: string) => readConfig({ SMS_PROVIDER: 'none', TRUST_PROXY, HOST }).warnings;
  expect(warningsOf('0.0.0.0')).toEqual([expect.stringMatching(/trusts a range of public hosts that can connect/)]);
  expect(warningsOf('127.0.0.1')).toEqual([]);
});

test.each([
  ...['10.0.0.0/8', '::ffff:10.0.0.0/104', 'fc00::/7', '10.0.0.2', '::1', '::ffff:10.0.0.2', '2001:DB8::/32'],
  ...['127.0.0.1, ::1', '172.16.0.0/12,192.168.0.0/16', '0.0.0.0/32'],
])('TRUST_PROXY=%s names proxies, and is no risk', (TRUST_PROXY) => {
  expect(readConfig({ SMS_PROVIDER: 'none', TRUST_PROXY, HOST: '::' }).warnings).toEqual([]);
});

test.each([
  ...['true', 'loopback', '*', 'all', '100', '-1', '1.5', '0x1', '1e1', '10/8', '10.0/16', '127.1', '010.0.0.2'],
  ...['0x0a.0.0.2', '167772162', '10.0.0.2/33', '10.0.0.2/08', '10.0.0.2/-1', '10.0.0.2/', '10.0.0.2/8/8', '::1/129'],
  ...['fe80::1%eth0', '[::1]', '10.0.0.2:80', '10.0.0.2;10.0.0.3', '10.0.0.2,', 'proxy.internal', '10.0.0.*'],
])('TRUST_PROXY=%s is refused, because it names other hosts than it seems to', (text) => {
  expect(errorsOf({ TRUST_PROXY: text })).toEqual([
    expect.stringMatching(/^TRUST_PROXY must be the number of proxies/),
  ]);
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
    expect(config.OIDC_PROVIDERS).toMatchObject([
      { name: 'google', issuer: google.issuer, clientIds: ['an-app'], algorithms: ['RS256'], signUp: false },
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

  test('a preset fills in what an entry leaves out', () => {
    const [github, entra] =
      readConfig({
        OIDC_PROVIDERS: JSON.stringify({
          github: { preset: 'github', client_id: 'ours', client_secret: 'a secret', scopes: 'read:user' },
          entra: { preset: 'microsoft', client_id: 'ours', title: 'Contoso', sign_up: true },
        }),
      }).OIDC_PROVIDERS ?? [];
    expect(github).toMatchObject({
      ...{ title: 'GitHub', issuer: 'https://github.com', map: { subject: 'id' }, scopes: 'read:user' },
      endpoints: { token: 'https://github.com/login/oauth/access_token', userinfo: 'https://api.github.com/user' },
    });
    expect(entra).toMatchObject({ title: 'Contoso', clientIds: ['ours'], signUp: true, endpoints: undefined });
  });

  test.each([
    ['without a client', { preset: 'google' }, 'client_id or client_ids is missing'],
    ['with an unknown preset', { preset: 'facebook' }, 'preset must be one of google, apple, microsoft, github'],
    ['without an issuer or endpoints', { client_id: 'a' }, 'issuer is missing'],
    [
      'with one endpoint',
      { client_id: 'a', token_endpoint: 'https://x.example' },
      'authorization_endpoint must be a URL',
    ],
    ['without a map', { preset: 'github', client_id: 'a', map: {} }, 'map must have subject'],
    [
      "with Apple's key in another form",
      { preset: 'apple', client_id: 'a', apple: { team_id: 'T' } },
      'apple must have',
    ],
    ['with a text for sign_up', { ...google, sign_up: 'yes' }, 'sign_up must be true or false'],
  ])('a provider %s is refused', (_title, entry, error) => {
    expect(oidc({ google: entry })[0]).toContain(error);
  });

  test.each([
    'https://app.example.com/callback',
    'com.example.app:/callback',
    'http://127.0.0.1/callback,http://[::1]/callback,http://localhost:3000/callback',
  ])('a login may return to %s', (uris) => {
    expect(readConfig({ PUBLIC_URL: 'https://x.example', REDIRECT_URIS: uris }).REDIRECT_URIS).toEqual(uris.split(','));
  });

  test.each([
    ...['https://*.example.com/callback', 'http://app.example.com/callback', 'javascript:alert(1)', 'data:text/html,x'],
    ...['https://app.example.com/#here', 'https://ada@app.example.com/', 'https:\\\\app.example.com', 'app:/callback'],
    ...['https://app.example.com/a b', '/callback', 'https:app.example.com', 'file:///etc/passwd', 'HTTPS://APP/'],
  ])('a login may not return to %j', (uri) => {
    expect(errorsOf({ PUBLIC_URL: 'https://x.example', REDIRECT_URIS: uri })[0]).toMatch(/^REDIRECT_URIS /);
  });

  test('REDIRECT_URIS need PUBLIC_URL', () => {
    expect(errorsOf({ REDIRECT_URIS: 'https://app.example.com/' })).toEqual([
      'PUBLIC_URL is required with REDIRECT_URIS',
    ]);
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

  test.each([
    ...[
      's3://AKIA:sesame@bucket',
      'S3://AKIA:sesame@b',
      's3:AKIA:sesame@b',
      '"s3://AKIA:sesame@b"',
      ' s3://AKIA:sesame@b',
    ],
    ...[
      "'s3:sesame'",
      '\ufeffs3://sesame@b',
      's3:\\\\sesame@b',
      'https://sesame@b',
      '/backups/s3://sesame@b',
      '\ts3:sesame',
    ],
  ])('BACKUP_TO=%j is no folder, and its error does not show it', (BACKUP_TO) => {
    expect(errorsOf({ BACKUP_TO })).toEqual(['BACKUP_TO must be s3://bucket or s3://bucket/prefix']);
  });

  test.each(['/backups/s3', './s3', 's3', '/a:b', 'a/b:c', '/mnt/nas:backups/x'])(
    'BACKUP_TO=%s is a folder',
    (BACKUP_TO) => {
      expect(errorsOf({ BACKUP_TO })).toEqual([]);
    },
  );

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

test('names each connection that leaves the machine without TLS', () => {
  const open = (env: Record<string, string>) => {
    const base = { SMS_PROVIDER: 'none', SECRET_KEY: 'x'.repeat(32) };
    return readConfig({ ...base, ...env }).warnings.map((text) => text.split(':')[0]);
  };
  expect(open({ DATABASE_URL: 'postgres://me@db.example/p?sslmode=disable' })).toEqual(['DATABASE_URL']);
  expect(open({ DATABASE_URL: 'postgres://me@a.example,127.0.0.1/p?sslmode=disable' })).toEqual(['DATABASE_URL']);
  expect(open({ BACKUP_VERIFY_URL: 'postgres://me@db.example/p?sslmode=disable' })).toEqual(['BACKUP_VERIFY_URL']);
  expect(open({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://traces.example:4318' })).toEqual(['OTEL_EXPORTER_OTLP_ENDPOINT']);
  expect(open({ IMAGE_S3_ENDPOINT: 'http://s3.example' })).toEqual(['IMAGE_S3_ENDPOINT']);
  expect(open({ BACKUP_S3_ENDPOINT: 'http://s3.example' })).toEqual(['BACKUP_S3_ENDPOINT']);
  expect(open({ SMTP_URL: 'smtp://mail.example?tls=none', MAIL_FROM: 'a@example.com' })).toEqual(['SMTP_URL']);
  expect(open({ METRICS_PORT: '9000', METRICS_HOST: '0.0.0.0' })).toEqual(['METRICS_HOST']);
  expect(open({ METRICS_HOST: '0.0.0.0' })).toEqual([]);
  expect(open({ DATABASE_URL: 'postgres://me@db.example/p' })).toEqual([]);
  for (const host of ['127.0.0.1', 'localhost', '[::1]', '']) {
    expect(open({ DATABASE_URL: `postgres://me@${host}/p?sslmode=disable` })).toEqual([]);
  }
  expect(open({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' })).toEqual([]);
  expect(errorsOf({ DATABASE_URL: 'postgres://me@db.example/p?ssl=0', SECRET_KEY: 'x'.repeat(32) })).toEqual([
    'DATABASE_URL must say sslmode=disable instead of ssl=0',
  ]);
});

describe('secrets in files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'postern-secrets-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };

  test('each setting that can hold a secret can be in a file', () => {
    const secret = 'S3CRET-'.repeat(6);
    const json = JSON.stringify({ google: { issuer: `https://${secret}.example.com`, client_ids: ['x'] } });
    const credentials =
      /SECRET|TOKEN$|PASSPHRASE|API_KEY$|PRIVATE_KEY|_HEADERS$|^(?:SMTP|DATABASE|BACKUP_VERIFY)_URL$|SERVICE_ACCOUNT|^APNS_KEY$|^(?:OIDC_PROVIDERS|CUSTOM_AUTHENTICATORS)$/;
    const named = readConfig({}).effective.map(({ name }) => name);
    expect([...fileSettings.values()].sort()).toEqual(named.filter((name) => credentials.test(name)).sort());
    const files = {
      SECRET_KEY_FILE: write('key', `${secret}\n`),
      ADMIN_API_KEY_FILE: write('admin', secret),
      DATABASE_URL_FILE: write('database', `postgres://me:${secret}@127.0.0.1/postern\r\n`),
      OIDC_PROVIDERS_FILE: write('oidc', json),
      SMTP_URL_FILE: write('smtp', `smtps://me:${secret}@mail.example.com`),
      MAIL_FROM: 'a@example.com',
    };
    const config = readConfig(files);
    expect(config.SECRET_KEY?.map((key) => key.reveal())).toEqual([secret]);
    expect(config.ADMIN_API_KEY?.reveal()).toBe(secret);
    expect(config.DATABASE_URL).toBe(`postgres://me:${secret}@127.0.0.1/postern`);
    expect(config.SMTP_URL?.password?.reveal()).toBe(secret);
    expect(config.OIDC_PROVIDERS?.[0]?.issuer.toLowerCase()).toContain(secret.toLowerCase());
    expect(config.warnings).toEqual([]);
    expect(JSON.stringify(config.effective)).not.toContain(secret);
    expect(config.effective.find(({ name }) => name === 'SECRET_KEY')).toMatchObject({ is_set: true, is_hidden: true });
  });

  test('a file that cannot be read, is empty, or stands beside the value is an error', () => {
    const path = write('other', 'x'.repeat(32));
    expect(errorsOf({ ADMIN_API_KEY_FILE: join(folder, 'missing') })).toEqual([
      expect.stringMatching(/^ADMIN_API_KEY_FILE must be the path of a readable file \(ENOENT\)$/),
    ]);
    expect(errorsOf({ ADMIN_API_KEY_FILE: write('empty', '\n') })).toEqual([expect.stringMatching(/is empty$/)]);
    expect(errorsOf({ ADMIN_API_KEY_FILE: path, ADMIN_API_KEY: 'y'.repeat(32) })).toEqual([
      'ADMIN_API_KEY and ADMIN_API_KEY_FILE exclude each other',
    ]);
    expect(errorsOf({ ADMIN_API_KEY_FILE: write('short', 'x') })).toEqual([
      'ADMIN_API_KEY must have at least 32 characters',
    ]);
  });
});
