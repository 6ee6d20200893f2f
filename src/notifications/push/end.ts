import type { DeliveryReason, DeliveryState } from '../../contract/push.js';
import type { DeliveryOutcome } from '../deliveries/announce.js';

/** The final states of a push. */
export type EndState = Exclude<DeliveryState, 'queued' | 'held'>;

/** How a push ends. */
export interface End {
  readonly state: EndState;
  readonly reason: DeliveryReason;
  readonly error?: string;
  /** Whether this attempt has called the push service. */
  readonly attempted?: boolean;
}

/** What a final state is in the counts by category. */
export const outcomeOf = {
  sent: 'sent',
  failed: 'failed',
  gone: 'failed',
  expired: 'expired',
  dropped: 'dropped',
  muted: 'dropped',
} as const satisfies Record<EndState, DeliveryOutcome>;
