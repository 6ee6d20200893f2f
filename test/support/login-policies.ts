import { createLoginPolicies } from '../../src/limits/login-policies.js';

const policy = { ttl: 365 * 86_400_000, idle: null, devices: 100 };

/** Logins last a year for every role, however little they are used. */
export const testPolicies = createLoginPolicies({ user: policy, support: policy, operator: policy });
