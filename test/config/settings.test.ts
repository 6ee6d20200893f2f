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

test('a request limit without a time is per minute', () => {
  const config = readConfig({ REQUEST_LIMIT_PER_ADDRESS: '600', REQUEST_LIMIT_PER_SESSION: '50/10s' });
  expect(config).toMatchObject({
    REQUEST_LIMIT_PER_ADDRESS: { size: 600, windowMs: 60_000 },
    REQUEST_LIMIT_PER_SESSION: { size: 50, windowMs: 10_000 },
  });
  expect(readConfig({ REQUEST_LIMIT_PER_ADDRESS: '0' }).REQUEST_LIMIT_PER_ADDRESS).toBeUndefined();
});

test.each(['-1', '1.5', '/10s', '100/', '100/10', '0/10s', '100/2d'])(
  'REQUEST_LIMIT_PER_ADDRESS=%s is refused',
  (text) => {
    expect(errorsOf({ REQUEST_LIMIT_PER_ADDRESS: text })).toEqual([
      expect.stringMatching(/ must be a number of requests /),
    ]);
  },
);

test('a current name gives no warning', () => {
  expect(readConfig({ DATABASE_BATCHING: 'false', VERIFY_BATCHING: '' }).warnings).toEqual([]);
});

test('the former and the current name of a setting may both be set, but only to the same value', () => {
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

test('attributes and headers for traces are pairs with percent-encoded values, and headers are secret', () => {
  const config = readConfig({
    OTEL_RESOURCE_ATTRIBUTES: 'team=a%2Cb, zone=z%3D1',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc',
    OTEL_TRACES_SAMPLER_ARG: '.25',
  });
  expect(config.OTEL_RESOURCE_ATTRIBUTES).toEqual({ team: 'a,b', zone: 'z=1' });
  expect(config.OTEL_EXPORTER_OTLP_HEADERS?.revealPairs()).toEqual({ authorization: 'Bearer abc' });
  expect(config.OTEL_TRACES_SAMPLER_ARG).toBe(0.25);
  expect(JSON.stringify(config)).not.toContain('abc');
});

test.each([
  ['OTEL_RESOURCE_ATTRIBUTES', 'team'],
  ['OTEL_RESOURCE_ATTRIBUTES', 'team=%zz'],
  ['OTEL_RESOURCE_ATTRIBUTES', 'team=a,'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization=a%0Ab'],
  ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
  ['OTEL_TRACES_SAMPLER', 'sometimes'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'localhost:4318'],
])('%s=%s is refused', (name, text) => {
  expect(errorsOf({ [name]: text })).toEqual([expect.stringMatching(new RegExp(`^${name} must be `))]);
});

test('no former name is the name of a setting', () => {
  expect(Object.keys(formerNames).filter((name) => name in settings)).toEqual([]);
});
