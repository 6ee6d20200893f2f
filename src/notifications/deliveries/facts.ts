import type { Category, StepChannel } from '../../contract/category.js';
import type { Queryable } from '../../database/database.js';
import { type Sql, type SqlPart, sql } from '../../database/sql.js';
import { parseDuration } from '../../lib/times.js';
import type { KnownCategories } from '../categories/categories.js';
import { categoryOf } from '../inbox/filter-fields.js';
import { isReadNow } from '../inbox/unread.js';
import type { CellChoice, ChannelChoice, StepFacts } from './decide.js';

/** What the database knows about a step of a notification for its user. */
export interface FactColumns {
  /** False: the notification was deleted. */
  is_there: boolean;
  is_expired: boolean;
  is_read: boolean;
  /** Whether the user has hidden it from the inbox. */
  is_hidden: boolean;
  category: string | null;
  is_active: boolean;
  is_locked: boolean;
  address_state: StepFacts['address'];
  chosen_channel: ChannelChoice | null;
  chosen_topic: CellChoice | null;
  chosen_category: CellChoice | null;
  /** Whether an earlier step was sent. False unless the condition asks for it. */
  was_delivered: boolean;
}

/** The names of `FactColumns`, to group by. */
export const factNames = sql`is_there, is_expired, is_read, is_hidden, category, is_active, is_locked, address_state, chosen_channel, chosen_topic, chosen_category, was_delivered`;

/** SQL: the parts of the statements that read facts. */
export interface FactParts {
  /** The user and the notification. */
  readonly userId: SqlPart;
  readonly notificationId: SqlPart;
  readonly channel: SqlPart;
  readonly condition: SqlPart;
  /** Whether an operator's lock on the user `u` is in effect. */
  readonly lockHolds: Sql;
}

/** SQL: whether a delivery of the notification was sent, or one of a digest that contains it. */
const wasSent = ({ userId, notificationId }: FactParts): Sql => sql`(
             exists (select from push_deliveries sent_push
                     where sent_push.user_id = ${userId} and sent_push.notification_id = ${notificationId}
                       and sent_push.state = 'sent')
             or exists (select from step_deliveries sent_step
                        where sent_step.user_id = ${userId}
                          and (sent_step.notification_id = ${notificationId} or sent_step.member_ids @> array[${notificationId}])
                          and sent_step.state in ('sent', 'delivered', 'complained')))`;

/** The state of a user and of the user's addresses. */
export interface UserColumns extends Pick<FactColumns, 'is_active' | 'is_locked'> {
  email_state: StepFacts['address'];
  sms_state: StepFacts['address'];
}

const emailState = sql`case when u.email is null then 'none' when u.email_verified then 'proven' else 'not_proven' end`;
const smsState = sql`case when u.phone is null then 'none' when u.phone_verified then 'proven' else 'not_proven' end`;
const userState = (lockHolds: Sql): Sql =>
  sql`coalesce(u.status = 'active', false) as is_active, coalesce(${lockHolds}, false) as is_locked`;

/** SQL: `UserColumns` of the user `u`. */
export const userColumns = (lockHolds: Sql): Sql =>
  sql`${userState(lockHolds)}, ${emailState} as email_state, ${smsState} as sms_state`;

/** SQL: `FactColumns`, from the rows of `factJoins`. */
export const factColumns = (parts: FactParts): Sql => sql`
           n.id is not null as is_there, coalesce(n.expires_at <= db_now(), false) as is_expired,
           coalesce(${isReadNow(sql`n.sequence`)}, false) as is_read, coalesce(n.is_hidden, false) as is_hidden, n.category_name as category,
           ${userState(parts.lockHolds)},
           case ${parts.channel} when 'email' then ${emailState} when 'sms' then ${smsState} else 'proven' end as address_state,
           preferences.channels -> ${parts.channel} ->> 'value' as chosen_channel,
           preferences.topics -> n.topic -> ${parts.channel} ->> 'value' as chosen_topic,
           preferences.categories -> n.category_name -> ${parts.channel} ->> 'value' as chosen_category,
           ${parts.condition} = 'undelivered' and ${wasSent(parts)} as was_delivered`;

/** SQL: the rows of one item that `factColumns` reads. Plain joins, because a step reads them for thousands of items. */
export const factJoins = ({ userId, notificationId }: FactParts): Sql => sql`
      left join (select notifications.*, ${categoryOf} as category_name from notifications) n
        on n.user_id = ${userId} and n.id = ${notificationId}
      left join markers on markers.user_id = ${userId}
      left join notification_states state on state.user_id = ${userId} and state.sequence = n.sequence
      left join users u on u.id = ${userId}
      left join preferences on preferences.user_id = ${userId}`;

/** Facts about an address that are not in the user's row. */
export interface AddressFacts {
  readonly isSuppressed: boolean;
  readonly isAllowedOut: boolean;
}

/** Looks up addresses of a channel. The composition root implements it. */
export type ReadAddresses = (
  handle: Queryable,
  channel: StepChannel,
  addresses: readonly string[],
) => Promise<ReadonlyMap<string, AddressFacts>>;

/** An address about which nothing is known. */
export const plainAddress: AddressFacts = { isSuppressed: false, isAllowedOut: true };

/** What a decision needs beside the columns. */
export interface FactOptions {
  readonly channel: StepChannel;
  readonly condition: StepFacts['condition'];
  readonly wasHandedOver: boolean;
  /** Seconds since the step was due. */
  readonly age: number;
  /** How late a step may be if its category has no `ttl`, in milliseconds. */
  readonly ttl: number;
  /** The end of the user's present quiet hours; null or absent outside of them. */
  readonly quietUntil?: string | null;
  /** The result of the cap and the digest of the category. Absent if they were not checked. */
  readonly limits?: Pick<StepFacts, 'isCapped' | 'digest' | 'isDigest'>;
  readonly categories: Pick<KnownCategories, 'get'>;
}

/** Returns the facts of a decision. For a delayed push, they do not include mutes, which the fan-out checks later. */
export function factsOf(row: FactColumns, address: AddressFacts, options: FactOptions): StepFacts {
  const { channel, condition, wasHandedOver, age, ttl, categories, quietUntil = null, limits } = options;
  const category = categories.get(row.category ?? '');
  return {
    channel,
    condition,
    wasHandedOver,
    notification: row.is_there
      ? { isExpired: row.is_expired, isRead: row.is_read, isHidden: row.is_hidden }
      : undefined,
    isLate: age * 1000 >= lifetime(category?.ttl, ttl),
    user: { isActive: row.is_active, isLocked: row.is_locked },
    wasDelivered: row.was_delivered,
    address: row.address_state,
    ...address,
    category: category && categoryFacts(category, channel),
    chosen: {
      channel: row.chosen_channel ?? undefined,
      topic: row.chosen_topic ?? undefined,
      category: row.chosen_category ?? undefined,
    },
    isMuted: false,
    quietUntil,
    ...limits,
  };
}

/** The rules of a category for a step. */
export const categoryFacts = (
  { is_critical: isCritical, defaults, digest, cap }: Category,
  channel: StepChannel,
): NonNullable<StepFacts['category']> => ({
  isCritical,
  byDefault: defaults[channel],
  hasDigest: digest !== null,
  overflow: cap?.overflow,
});

/** Milliseconds for which a step may be late. @param own the `ttl` of the category @param ttl without one */
export const lifetime = (own: string | null | undefined, ttl: number): number => parseDuration(own ?? '') ?? ttl;
