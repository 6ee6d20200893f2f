import type { StepChannel } from '../../contract/category.js';

/** Whether a channel is on or off. */
export type ChannelChoice = 'on' | 'off';
/** The same for a category or a topic, whose mails can come as a digest. */
export type CellChoice = ChannelChoice | 'digest';

/** All facts that decide whether a step of a notification is carried out now. */
export interface StepFacts {
  readonly channel: StepChannel;
  readonly condition: 'always' | 'unread' | 'undelivered';
  /** Whether the message was already given to the provider. */
  readonly wasHandedOver: boolean;
  /** Undefined: the notification was deleted. */
  readonly notification:
    | {
        readonly isExpired: boolean;
        readonly isRead: boolean;
        /** Whether the user has turned off the inbox for its category. Then it counts as read for steps of the condition `unread`. */
        readonly isHidden?: boolean;
      }
    | undefined;
  /** Whether the `ttl` of the step is over. */
  readonly isLate: boolean;
  readonly user: { readonly isActive: boolean; readonly isLocked: boolean };
  /** Whether an earlier step was sent or delivered. */
  readonly wasDelivered: boolean;
  /** The address of the channel. A push has a token instead: see `push/prepare.ts`. */
  readonly address: 'proven' | 'not_proven' | 'none';
  /** Whether the address is suppressed, for example because a mail came back. */
  readonly isSuppressed: boolean;
  /** Undefined: the category was deleted. */
  readonly category:
    | {
        readonly isCritical: boolean;
        readonly byDefault: CellChoice;
        readonly hasDigest?: boolean;
        /** What happens to a notification over the cap. Absent: the category has no cap. */
        readonly overflow?: 'drop' | 'digest' | undefined;
      }
    | undefined;
  /** What the user has chosen; undefined: nothing. */
  readonly chosen: {
    readonly channel: ChannelChoice | undefined;
    /** For the topic to which the notification was published. */
    readonly topic?: CellChoice | undefined;
    readonly category: CellChoice | undefined;
  };
  readonly isMuted: boolean;
  /** Whether the user has reached the cap of the category in this channel. */
  readonly isCapped?: boolean;
  /**
   * `open` (default): the notification can join the present digest. `member`: a closed digest contains it. `past`: it is older than the
   * present digest, and no digest contains it.
   */
  readonly digest?: 'open' | 'member' | 'past';
  /** Whether the delivery is a digest itself. */
  readonly isDigest?: boolean;
  /** The end of the user's present quiet hours, as a time of the API; absent or null outside of them. */
  readonly quietUntil?: string | null;
  /** Whether OUTBOUND lets messages go to the address. */
  readonly isAllowedOut: boolean;
}

/** Why a step is not carried out. */
export type Refusal =
  | {
      readonly state: 'skipped';
      readonly reason:
        | 'read'
        | 'already_delivered'
        | 'no_address'
        | 'not_proven'
        | 'suppressed'
        | 'preference_off'
        | 'channel_off'
        | 'muted'
        | 'cap'
        | 'sandbox'
        | 'account_locked'
        | 'account_deactivated';
    }
  | { readonly state: 'expired'; readonly reason: 'notification_expired' | 'ttl' }
  | { readonly state: 'dropped'; readonly reason: 'read' | 'notification_deleted' | 'category_deleted' };

/** The step waits. Afterwards Postern decides again. */
export interface Hold {
  readonly state: 'held';
  readonly reason: 'quiet_hours';
  /** A time as in the API. */
  readonly heldUntil: string;
}

/** The notification joins the digest. */
export interface Join {
  readonly state: 'digesting';
  readonly reason: 'digest' | 'cap';
}

export type Decision = { readonly state: 'send' } | Join | Hold | Refusal;

/**
 * Decides about one step of one notification for one user, when the step is due and again before each attempt. It is a pure function, which
 * deliveries, dry runs and the simulator share. The order of the checks is fixed, because people see the first reason.
 */
export function decide(facts: StepFacts): Decision {
  const { channel, condition, notification, user, category, chosen } = facts;
  if (notification === undefined) return { state: 'dropped', reason: 'notification_deleted' };
  if (notification.isExpired) return { state: 'expired', reason: 'notification_expired' };
  if (facts.isLate) return { state: 'expired', reason: 'ttl' };
  if (category === undefined) return { state: 'dropped', reason: 'category_deleted' };
  if (!user.isActive) return skipped('account_deactivated');
  if (user.isLocked) return skipped('account_locked');
  // A notification that the user has read is never pushed, whatever the condition is.
  const countsAsRead = notification.isRead || (notification.isHidden === true && condition === 'unread');
  if (countsAsRead && (condition === 'unread' || channel === 'push')) {
    return facts.wasHandedOver ? { state: 'dropped', reason: 'read' } : skipped('read');
  }
  if (condition === 'undelivered' && facts.wasDelivered) return skipped('already_delivered');
  if (facts.address === 'none') return skipped('no_address');
  if (facts.address === 'not_proven') return skipped('not_proven');
  if (facts.isSuppressed) return skipped('suppressed');
  if (!category.isCritical) {
    if (chosen.channel === 'off') return skipped('channel_off');
    const choice = chosen.topic ?? chosen.category ?? category.byDefault;
    if (choice === 'off') return skipped('preference_off');
    if (channel === 'push' && facts.isMuted) return skipped('muted');
    const limited = facts.isDigest === true || facts.wasHandedOver ? undefined : limit(facts, choice);
    if (limited !== undefined) return limited;
    const { quietUntil = null } = facts;
    if (quietUntil !== null) return { state: 'held', reason: 'quiet_hours', heldUntil: quietUntil };
  }
  return facts.isAllowedOut ? { state: 'send' } : skipped('sandbox');
}

/** Whether the step joins a digest, or is skipped because of a digest or the cap. Undefined if none applies. */
function limit(facts: StepFacts, choice: CellChoice): Decision | undefined {
  const { channel, category, digest = 'open' } = facts;
  const hasDigest = channel === 'email' && category?.hasDigest === true;
  if (hasDigest && digest === 'member') return skipped('already_delivered');
  // A digest contains only notifications that are shown in the inbox.
  const isDigested = hasDigest && facts.notification?.isHidden !== true;
  const canJoin = isDigested && digest === 'open';
  if (canJoin && choice === 'digest') return { state: 'digesting', reason: 'digest' };
  // No digest contains it, for one of two reasons. It was read before the digest closed: then it gets no mail. Or it came too late for the
  // digest: then it gets its own mail, below.
  if (isDigested && digest === 'past' && choice === 'digest' && facts.notification?.isRead) return skipped('read');
  if (facts.isCapped !== true) return undefined;
  return canJoin && category?.overflow === 'digest' ? { state: 'digesting', reason: 'cap' } : skipped('cap');
}

const skipped = (reason: (Refusal & { state: 'skipped' })['reason']): Refusal => ({ state: 'skipped', reason });

/** The state of a push that is refused. Pushes have no state `skipped`. */
export const refusedPush = (state: Refusal['state']) => (state === 'skipped' ? 'dropped' : state);
