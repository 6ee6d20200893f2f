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
