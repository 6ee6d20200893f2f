import { expect, test } from 'vitest';
import { loginPolicies } from '../../../src/app/base/login-policies.js';
import { readConfig } from '../../../src/config/config.js';

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
const policiesOf = (env: Readonly<Record<string, string>>) => JSON.parse(loginPolicies(readConfig(env)));

test('operators and supporters have 12 hours and 30 minutes without use, unless a setting says otherwise', () => {
  const privileged = { ttl: 12 * hour, idle: 30 * minute, devices: 100 };
  const user = { ttl: 365 * day, idle: null, devices: 100 };
  expect(policiesOf({})).toEqual({ 'role user': user, 'role support': privileged, 'role operator': privileged });
  const set = { AUTHENTICATION_TTL_BY_ROLE: 'operator:365d', IDLE_TTL_BY_ROLE: 'operator:90d' };
  const operator = { ...user, idle: 90 * day };
  expect(policiesOf(set)).toEqual({ 'role user': user, 'role support': privileged, 'role operator': operator });
});

test('with long sessions, the idle limit of operators is twice their length', () => {
  expect(policiesOf({ SESSION_TTL: '2h' })['role operator'].idle).toBe(4 * hour);
});

test('of two limits, the smaller one holds', () => {
  const env = {
    ...{ AUTHENTICATION_TTL: '1h', AUTHENTICATION_TTL_BY_ROLE: 'user:2h', IDLE_TTL: '40m' },
    ...{ IDLE_TTL_BY_ROLE: 'user:35m,support:50m', MAX_DEVICES: '4', MAX_DEVICES_BY_ROLE: 'user:2,operator:9' },
  };
  expect(policiesOf(env)).toEqual({
    'role user': { ttl: hour, idle: 35 * minute, devices: 2 },
    'role support': { ttl: hour, idle: 40 * minute, devices: 4 },
    'role operator': { ttl: hour, idle: 30 * minute, devices: 4 },
  });
});
