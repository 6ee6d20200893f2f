import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.js';
import { errorsOf } from '../support/config.js';

describe('the lifetimes of logins', () => {
  test.each([
    [{ IDLE_TTL: '29m' }, 'IDLE_TTL must be at least twice SESSION_TTL'],
    [{ IDLE_TTL: '119m', SESSION_TTL: '1h' }, 'IDLE_TTL must be at least twice SESSION_TTL'],
    [{ IDLE_TTL_BY_ROLE: 'operator:29m' }, 'IDLE_TTL_BY_ROLE: operator must be at least twice SESSION_TTL'],
  ])('an idle limit below twice SESSION_TTL is an error: %j', (env, error) => {
    expect(errorsOf(env)).toEqual([error]);
  });

  test.each([
    [{ IDLE_TTL: '30m' }],
    [{ IDLE_TTL: '10s', SESSION_TTL: '5s' }],
    [{ IDLE_TTL_BY_ROLE: 'operator:30m,support:1h,user:30d' }],
    [{ SESSION_TTL: '1h' }],
    [{ AUTHENTICATION_TTL_BY_ROLE: 'operator:10m', MAX_DEVICES_BY_ROLE: 'operator:1' }],
  ])('%j is valid', (env) => {
    expect(errorsOf(env)).toEqual([]);
  });

  test.each([
    ['IDLE_TTL_BY_ROLE', 'operator', 'duration', 'operator:30m'],
    ['IDLE_TTL_BY_ROLE', 'operator:30m,operator:1h', 'duration', 'operator:30m'],
    ['AUTHENTICATION_TTL_BY_ROLE', 'Admin:8h', 'duration', 'operator:8h'],
    ['MAX_DEVICES_BY_ROLE', 'operator:0', 'number', 'operator:3'],
  ])('%s cannot be %s', (name, text, what, example) => {
    expect(errorsOf({ [name]: text })).toEqual([
      `${name} must be different roles with a ${what} each, such as ${example}`,
    ]);
  });

  test('there is no idle limit for all users by default', () => {
    expect(readConfig({}).IDLE_TTL).toBeUndefined();
  });
});
