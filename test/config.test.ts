import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../src/config.js';
import { faultsOf } from './support/config.js';

const day = 86_400_000;

describe('NOTIFICATION_RETENTION', () => {
  test('is an age for each type that it names, and none by default', () => {
    expect(readConfig({}).NOTIFICATION_RETENTION).toBeUndefined();
    expect(readConfig({ NOTIFICATION_RETENTION: 'pool:90d, *:365d' }).NOTIFICATION_RETENTION).toEqual({
      pool: 90 * day,
      '*': 365 * day,
    });
  });

  test.each(['pool', 'pool:', 'pool:90', 'pool:1h', 'pool:90d,', 'pool:90d,pool:91d', 'Pool:90d', '__proto__', ':90d'])(
    'cannot be %s',
    (text) => {
      expect(faultsOf({ NOTIFICATION_RETENTION: text })).toEqual([
        'NOTIFICATION_RETENTION must be different types with durations from 1d to 36500d, such as pool:90d,*:365d',
      ]);
    },
  );

  test('names only types that may be published', () => {
    expect(faultsOf({ NOTIFICATION_RETENTION: 'pool:90d,paymnet:90d' })).toEqual([
      'NOTIFICATION_RETENTION names types that are not in NOTIFICATION_TYPES: paymnet',
    ]);
    expect(faultsOf({ NOTIFICATION_RETENTION: 'party:90d', NOTIFICATION_TYPES: 'payment,party' })).toEqual([]);
  });
});

describe('breached passwords', () => {
  test('are a file in the order of its hashes, or a URL that is https, and not both', () => {
    const [file, url] = ['BREACHED_PASSWORDS_FILE', 'BREACHED_PASSWORDS_URL'];
    expect(faultsOf({ [url]: 'https://api.pwnedpasswords.com/range' })).toEqual([]);
    expect(faultsOf({ [url]: 'http://127.0.0.1/range' })).toEqual([
      `${url} must be https (http needs ALLOW_PRIVATE_NETWORK_TARGETS=true)`,
    ]);
    for (const path of ['package.json', '/nowhere']) {
      expect(faultsOf({ [file]: path })).toEqual([
        `${file} must name a file of lines HASH:count, with SHA-1 hashes in their own order`,
      ]);
    }
  });

  test('come from one list', () => {
    const folder = mkdtempSync(join(tmpdir(), 'postern-config-'));
    try {
      const path = join(folder, 'breached.txt');
      writeFileSync(path, `${'A'.repeat(40)}:1\n`);
      const env = { BREACHED_PASSWORDS_FILE: path, BREACHED_PASSWORDS_URL: 'https://api.pwnedpasswords.com/range' };
      expect(faultsOf({ BREACHED_PASSWORDS_FILE: path })).toEqual([]);
      expect(faultsOf(env)).toEqual(['BREACHED_PASSWORDS_FILE and BREACHED_PASSWORDS_URL exclude each other']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
