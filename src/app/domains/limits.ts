import { createGuessBudget, type GuessBudget } from '../../limits/guess-budget.js';
import { createRequestLimits, type RequestLimits } from '../../limits/request-limits.js';
import type { Notices } from '../../messages/notices.js';
import type { Base } from '../base/base.js';

/** The budget of wrong secrets, as configured. */
export function createConfiguredGuessBudget(
  { config, database, statistics: { counters } }: Base,
  notices: Notices,
): GuessBudget {
  const bounds = {
    failureLimit: config.GUESS_LIMIT,
    permanentLimit: config.GUESS_LIMIT_PERMANENT,
    lockMs: config.GUESS_LOCK,
    maxLockMs: config.GUESS_LOCK_MAX,
  };
  return createGuessBudget(database, bounds, { notices, counters });
}

/** The limits of requests and messages, as configured. */
export function createConfiguredLimits({ config, database, keys }: Base): RequestLimits {
  // With registration, anyone can request codes to any number (SMS pumping).
  const unset = config.REGISTRATION === 'on' ? { perPrefix: 60, inTotal: 600 } : { perPrefix: 0, inTotal: 0 };
  return createRequestLimits({
    database,
    keys,
    loginsPerAddress: config.LOGIN_LIMIT_PER_ADDRESS,
    messagesPerAddress: config.CODE_LIMIT_PER_ADDRESS,
    messagesPerPrefix: config.SMS_LIMIT_PER_PREFIX ?? unset.perPrefix,
    messagesInTotal: config.SMS_LIMIT_TOTAL ?? unset.inTotal,
  });
}
