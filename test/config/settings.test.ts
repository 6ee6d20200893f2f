import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.js';
import { formerNames, settings } from '../../src/config/settings.js';
import { errorsOf } from '../support/config.js';

test('a former name of a setting is read with a warning', () => {
  const config = readConfig({ VERIFY_BATCHING: 'false', SMS_LIMIT_PER_ADDRESS: '7' });
  expect(config).toMatchObject({
    DATABASE_BATCHING: false,
    CODE_LIMIT_PER_ADDRESS: 7,
    warnings: [
      'VERIFY_BATCHING is now called DATABASE_BATCHING. The next version does not read the former name',
      'SMS_LIMIT_PER_ADDRESS is now called CODE_LIMIT_PER_ADDRESS. The next version does not read the former name',
    ],
  });
  expect(readConfig({ HOST: '0.0.0.0', ALLOW_CONSOLE_SMS: 'true' }).ALLOW_CONSOLE_CODES).toBe(true);
});

test('a current name gives no warning', () => {
  expect(readConfig({ DATABASE_BATCHING: 'false', VERIFY_BATCHING: '' }).warnings).toEqual([]);
});

test('both names of a setting may be set to the same value only', () => {
  const same = readConfig({ DATABASE_BATCHING: 'false', VERIFY_BATCHING: 'false' });
  expect(same.DATABASE_BATCHING).toBe(false);
  expect(same.warnings).toHaveLength(1);
  expect(errorsOf({ DATABASE_BATCHING: 'true', VERIFY_BATCHING: 'false' })).toEqual([
    'DATABASE_BATCHING and its former name VERIFY_BATCHING differ',
  ]);
});

test('an invalid value under a former name is reported under the current name', () => {
  expect(errorsOf({ SMS_LIMIT_PER_ADDRESS: '-1' })).toEqual([
    'CODE_LIMIT_PER_ADDRESS must be a whole number from 0 to 1000000',
  ]);
});

test('no former name is the name of a setting', () => {
  expect(Object.keys(formerNames).filter((name) => name in settings)).toEqual([]);
});
