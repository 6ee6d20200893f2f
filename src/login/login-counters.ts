import { Problem } from '../lib/problem.js';
import type { Counters } from '../statistics/counters.js';
import type { ApprovedRecord } from './authentications.js';

/** Counts an approved login, and its device if it is new. */
export function countApproval(counters: Counters, authenticator: string, { is_new_device }: ApprovedRecord): void {
  counters.add('logins.approved', authenticator);
  if (is_new_device) counters.add('devices.new');
}

/** Wraps a step of the login, and counts the requests that a limit refuses. */
export function countLimitRefusals<Request extends unknown[], Result>(
  counters: Counters,
  step: (...request: Request) => Promise<Result>,
): (...request: Request) => Promise<Result> {
  return async (...request) => {
    try {
      return await step(...request);
    } catch (error) {
      const isLimit = error instanceof Problem && error.code === 'too_many_requests';
      if (isLimit) counters.add('logins.failed', 'too_many_requests');
      throw error;
    }
  };
}
