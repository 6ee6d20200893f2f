import type { DeliveryReason, DeliveryState } from '../../contract/push.js';

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
