import type { Category } from '../../contract/category.js';
import { decide, type Hold, type StepFacts } from '../deliveries/decide.js';
import { categoryFacts } from '../deliveries/facts.js';
import type { End } from './end.js';

/** What a category says about pushes. */
export const pushOf = (category: Category) => categoryFacts(category, 'push');

/** Whether a category has pushes. */
export const hasPush = ({ steps }: Pick<Category, 'steps'>): boolean => steps.some(({ channel }) => channel === 'push');

/**
 * Decides about a push with `decide`. The rest is checked elsewhere: the user and the device by the query for the token.
 * @returns why the push ends or waits; undefined if it is sent
 */
export function decidePush(
  facts: Pick<
    StepFacts,
    'notification' | 'category' | 'chosen' | 'isMuted' | 'isLate' | 'wasHandedOver' | 'quietUntil' | 'isCapped'
  >,
): End | Hold | undefined {
  const decision = decide({
    ...facts,
    channel: 'push',
    condition: 'always',
    user: { isActive: true, isLocked: false },
    wasDelivered: false,
    address: 'proven',
    isSuppressed: false,
    isAllowedOut: true,
  });
  if (decision.state === 'held') return decision;
  switch (decision.state === 'send' ? undefined : decision.reason) {
    case undefined:
      return undefined;
    case 'muted':
      return { state: 'muted', reason: 'muted' };
    case 'notification_expired':
      return { state: 'expired', reason: 'notification_expired' };
    case 'ttl':
      return { state: 'expired', reason: 'ttl' };
    case 'read':
      return { state: 'dropped', reason: 'read' };
    case 'channel_off':
    case 'preference_off':
      return { state: 'dropped', reason: 'preference_off' };
    case 'cap':
      return { state: 'dropped', reason: 'cap' };
    case 'category_deleted':
      return { state: 'dropped', reason: 'category_deleted' };
    case 'notification_deleted':
      return { state: 'dropped', reason: 'notification_deleted' };
    default:
      throw new Error('a push was refused for a reason that no push has');
  }
}
