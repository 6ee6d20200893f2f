import type { StepChannel } from '../../contract/category.js';

/** Whether a channel is on or off. */
export type ChannelChoice = 'on' | 'off';
/** The same for a category or a topic, whose mails can come as a digest. */
export type CellChoice = ChannelChoice | 'digest';

/** All that decides whether a step of a notification is carried out now. */
export interface StepFacts {
  readonly channel: StepChannel;
  readonly condition: 'always' | 'unread' | 'undelivered';
  /** Whether the channel has been called for this step already. */
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
  /** Whether the time in which the step may be carried out is over. */
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
  /** Whether as many notifications as the cap of the category allows have reached the user by the channel. */
  readonly isCapped?: boolean;
  /**
   * Absent or `open`: the notification can join the present digest. `member`: a closed digest contains it. `past`: it is older than the
   * present digest, and was in none.
   */
  readonly digest?: 'open' | 'member' | 'past';
  /** Whether the delivery is a digest itself. */
  readonly isDigest?: boolean;
  /** When the quiet hours of the user end. Absent or null: there are none now. A time as in the API. */
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

/** The step waits. Then it is decided about again. */
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
 * Decides about one step of one notification for one user, at the time of the step and again directly before each attempt. It
 * is pure: everything that asks whether and why a step is carried out uses it. The order of the questions is fixed, because the
 * first "no" is the answer that users and operators get.
 */
export function decide(facts: StepFacts): Decision {
  const { channel, condition, notification, user, category, chosen } = facts;
  if (notification === undefined) return { state: 'dropped', reason: 'notification_deleted' };
  if (notification.isExpired) return { state: 'expired', reason: 'notification_expired' };
  if (facts.isLate) return { state: 'expired', reason: 'ttl' };
  if (category === undefined) return { state: 'dropped', reason: 'category_deleted' };
  if (!user.isActive) return skipped('account_deactivated');
  if (user.isLocked) return skipped('account_locked');
  // Whatever the condition says, nothing is pushed about what the user has read.
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

/** Whether the step joins a digest, or is skipped because of one or of the cap. Undefined: neither. */
function limit(facts: StepFacts, choice: CellChoice): Decision | undefined {
  const { channel, category, digest = 'open' } = facts;
  const hasDigest = channel === 'email' && category?.hasDigest === true;
  if (hasDigest && digest === 'member') return skipped('already_delivered');
  // A digest has only what is in the inbox.
  const isDigested = hasDigest && facts.notification?.isHidden !== true;
  const canJoin = isDigested && digest === 'open';
  if (canJoin && choice === 'digest') return { state: 'digesting', reason: 'digest' };
  // The digest of its time has left it out for that. An unread notification came too late for it, and is sent alone.
  if (isDigested && digest === 'past' && choice === 'digest' && facts.notification?.isRead) return skipped('read');
  if (facts.isCapped !== true) return undefined;
  return canJoin && category?.overflow === 'digest' ? { state: 'digesting', reason: 'cap' } : skipped('cap');
}

const skipped = (reason: (Refusal & { state: 'skipped' })['reason']): Refusal => ({ state: 'skipped', reason });
