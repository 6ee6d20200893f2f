import type { Config } from '../../config/config.js';
import { roles } from '../../contract/user-fields.js';
import { createLoginPolicies, type LoginPolicies, type LoginPolicy } from '../../limits/login-policies.js';

const [minute, hour] = [60_000, 3_600_000];

type LoginSettings = Pick<
  Config,
  | 'SESSION_TTL'
  | 'AUTHENTICATION_TTL'
  | 'AUTHENTICATION_TTL_BY_ROLE'
  | 'IDLE_TTL'
  | 'IDLE_TTL_BY_ROLE'
  | 'MAX_DEVICES'
  | 'MAX_DEVICES_BY_ROLE'
>;

/** The policies of the configuration. The smaller of two limits holds. */
export function loginPolicies(config: LoginSettings): LoginPolicies {
  const privileged = { ttl: 12 * hour, idle: Math.max(30 * minute, 2 * config.SESSION_TTL) };
  const policyOf = (role: (typeof roles)[number]): LoginPolicy => {
    const defaults = role === 'user' ? undefined : privileged;
    const idle = Math.min(
      config.IDLE_TTL ?? Number.POSITIVE_INFINITY,
      config.IDLE_TTL_BY_ROLE?.[role] ?? defaults?.idle ?? Number.POSITIVE_INFINITY,
    );
    return {
      ttl: Math.min(
        config.AUTHENTICATION_TTL,
        config.AUTHENTICATION_TTL_BY_ROLE?.[role] ?? defaults?.ttl ?? Number.POSITIVE_INFINITY,
      ),
      idle: Number.isFinite(idle) ? idle : null,
      devices: Math.min(config.MAX_DEVICES, config.MAX_DEVICES_BY_ROLE?.[role] ?? Number.POSITIVE_INFINITY),
    };
  };
  const [user, support, operator] = [policyOf('user'), policyOf('support'), policyOf('operator')];
  return createLoginPolicies({ user, support, operator }, appPolicies(config));
}

/** The limits of the roles that the app gives. */
function appPolicies(config: LoginSettings): Record<string, Partial<LoginPolicy>> {
  const limits = [
    ['ttl', config.AUTHENTICATION_TTL_BY_ROLE],
    ['idle', config.IDLE_TTL_BY_ROLE],
    ['devices', config.MAX_DEVICES_BY_ROLE],
  ] as const;
  const policies = new Map<string, Partial<LoginPolicy>>();
  for (const [limit, byRole = {}] of limits) {
    for (const [role, value] of Object.entries(byRole)) {
      if (!roles.some((name) => name === role)) policies.set(role, { ...policies.get(role), [limit]: value });
    }
  }
  return Object.fromEntries(policies);
}
