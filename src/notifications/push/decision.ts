import type { Category } from '../../contract/category.js';
import { type DeliveryReason, deliveryReasons, type StepReason } from '../../contract/push.js';
import { decide, type Hold, refusedPush, type StepFacts } from '../deliveries/decide.js';
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
  switch (decision.state) {
    case 'send':
      return undefined;
    case 'held':
      return decision;
    case 'digesting':
      throw new Error('a push cannot join a digest');
    default:
      if (decision.reason === 'muted') return { state: 'muted', reason: 'muted' };
      return { state: refusedPush(decision.state), reason: pushReason(decision.reason) };
  }
}

/** The reason of a push, for that of its step. */
export function pushReason(reason: StepReason): DeliveryReason {
  // For pushes, this means that the operator has not configured the channel.
  if (reason === 'channel_off') return 'preference_off';
  return reason in deliveryReasons ? (reason as DeliveryReason) : 'not_reachable_then';
}
