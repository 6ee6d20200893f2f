import type { Category } from '../../contract/category.js';
import type { PushChannel } from '../../contract/push.js';
import type { Database } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { limitsOf, takeCap } from '../deliveries/caps.js';
import type { Hold } from '../deliveries/decide.js';
import { lifetime } from '../deliveries/facts.js';
import type { AttemptJob } from '../deliveries/jobs.js';
import { categoryOf } from '../inbox/filter-fields.js';
import { type NotificationRow, notificationColumns, toNotification } from '../inbox/row.js';
import { isReadNow, joinReadState } from '../inbox/unread.js';
import { chosenFor } from '../preferences/pushes.js';
import { TemplateTooLarge } from '../templates/render.js';
import { renderMessage } from '../templates/templates.js';
import type { DeliveryRow } from './attempt.js';
import { decidePush, pushOf } from './decision.js';
import type { PushTarget } from './devices.js';
import type { End } from './end.js';
import { collapsedTexts, collapseIdOf, pushContent } from './message.js';
import { isMuted, readMutes } from './mutes.js';
import { noticeContent, type StoredNotice } from './notice.js';
import type { PushOptions } from './plan.js';
import type { PushContent, PushMessage } from './sender.js';

interface SubjectRow extends NotificationRow {
  category: string;
  topic: string | null;
  replace_key: string | null;
  extra: { data?: Record<string, unknown>; url?: string } | null;
  is_expired: boolean;
  is_read: boolean;
}

const selectNotification = statement<{ userId: string; id: string }, SubjectRow>(
  'push_notification',
  (p) => sql`
    select ${notificationColumns}, ${categoryOf} as category, topic, replace_key, extra,
           coalesce(expires_at <= db_now(), false) as is_expired,
           ${isReadNow(sql`notifications.sequence`)} as is_read
    from notifications ${joinReadState(p.userId, sql`notifications.sequence`)}
    where user_id = ${p.userId} and id = ${p.id}`,
);

export interface PreparationOptions extends Pick<PushOptions, 'devices' | 'fields' | 'categories'> {
  readonly database: Database;
  readonly urgency: PushMessage['urgency'];
  /** How late a push may be if its category has no `ttl`, in milliseconds. */
  readonly ttl: number;
  /** The name of the app, for templates. */
  readonly app: string;
  /** Whether pushes go to a user with these proven addresses (OUTBOUND). */
  readonly isAllowedOut: (proven: readonly string[]) => boolean;
}

/** What a push shows. */
interface PushSubject {
  /** Undefined: a notice. */
  readonly category?: Category;
  /** @returns the content; or why the push ends, if the text of its template is too large */
  contentFor(user: { readonly locale: string | null; readonly name: string }): PushMessage['content'] | End;
  readonly collapseId: string;
  /** Seconds until the push expires. */
  readonly secondsLeft: number;
}

const stepOf = (job: AttemptJob, row: DeliveryRow) =>
  ({ userId: job.user_id, notificationId: row.notification_id, channel: 'push' }) as const;

const contentOfNotice = (id: string, notice: StoredNotice) => () => noticeContent(id, notice);

/** The text of the template of the user's language. Without one, the actor and the description. */
function templatedContent(
  row: SubjectRow,
  { templates }: Category,
  { user: { locale, name }, app }: { user: { locale: string | null; name: string }; app: string },
): PushContent | End {
  if (Object.keys(templates).length === 0) return pushContent(row);
  const { actor, description, extra } = row;
  const values = { actor, description, url: extra?.url ?? null, data: extra?.data ?? null, user: { name }, app };
  try {
    const message = renderMessage(templates, { channel: 'push', locale, timeZone: 'UTC' }, values);
    return message.template === null
      ? pushContent(row)
      : pushContent({ ...row, actor: message.title, description: message.text });
  } catch (error) {
    if (error instanceof TemplateTooLarge) return { state: 'failed', reason: 'template_too_large' };
    throw error;
  }
}

/** What a sender needs for an attempt. */
export interface Prepared extends PushTarget {
  readonly message: PushMessage;
  /** Until the push expires. */
  readonly secondsLeft: number;
}

/**
 * Returns the message and the token of the device, or the reason why the push is not sent. All data is read again,
 * because it may have changed.
 */
export type PreparePush = (channel: PushChannel, job: AttemptJob, row: DeliveryRow) => Promise<Preparation>;

interface Preparation {
  readonly result: End | Hold | Prepared;
  /** The category of the notification. Null: it was deleted, or the push is about a notice. */
  readonly category: string | null;
}

/** Creates the function that prepares an attempt. */
export function createPreparation({
  database,
  devices,
  fields,
  categories,
  urgency,
  ttl,
  app,
  isAllowedOut,
}: PreparationOptions): PreparePush {
  /** What a push of a notification shows; or why it ends, or waits. */
  async function contentOf(
    job: AttemptJob,
    row: DeliveryRow,
    notification: SubjectRow | undefined,
  ): Promise<End | Hold | PushSubject> {
    const handle = database.user(job.user_id);
    if (notification !== undefined) await categories.refreshFor(handle, [notification.category]);
    const category = notification && categories.get(notification.category);
    // The row counts with the default `ttl`.
    const secondsLeft = row.seconds_left + (lifetime(category?.ttl, ttl) - ttl) / 1000;
    const { isCapped = false } = row.attempts > 0 ? {} : await limitsOf(handle, stepOf(job, row), category);
    const decision = decidePush({
      isCapped,
      notification: notification && { isExpired: notification.is_expired, isRead: notification.is_read },
      category: category && pushOf(category),
      chosen: chosenFor(row.choices, { category: notification?.category ?? '', topic: notification?.topic ?? null }),
      isMuted:
        notification !== undefined &&
        row.mutes.length > 0 &&
        isMuted(readMutes(row.mutes, fields), toNotification(notification, new Map()), notification.category),
      isLate: secondsLeft < 1,
      wasHandedOver: row.attempts > 0,
      quietUntil: row.choices?.quiet_until ?? null,
    });
    if (decision !== undefined) return decision;
    // `decidePush` has refused it.
    if (notification === undefined || category === undefined)
      return { state: 'dropped', reason: 'notification_deleted' };
    return {
      category,
      contentFor: (user) =>
        row.collapsed === null
          ? templatedContent(notification, category, { user, app })
          : pushContent({ ...notification, ...collapsedTexts(category, row.collapsed, user.locale) }),
      secondsLeft,
      collapseId: collapseIdOf({ userId: job.user_id, ...row, ...notification }),
    };
  }

  async function prepare(
    channel: PushChannel,
    job: AttemptJob,
    row: DeliveryRow,
    subject: PushSubject,
  ): Promise<End | Prepared> {
    const { notice } = row;
    const { secondsLeft, category } = subject;
    if (secondsLeft < 1) return { state: 'expired', reason: 'ttl' };
    const target = await devices.target(database.user(job.user_id), {
      user_id: job.user_id,
      device_id: row.device_id,
      channel,
    });
    if ('unreachable' in target) return { state: 'dropped', reason: target.unreachable };
    // OUTBOUND does not hold back notices about the account, just like codes.
    if (!notice && !isAllowedOut(target.proven)) return { state: 'dropped', reason: 'sandbox' };
    const content = subject.contentFor(target);
    if ('state' in content) return content;
    if (category !== undefined && row.attempts === 0 && category.cap !== null) {
      const isTaken = await takeCap(database.user(job.user_id), stepOf(job, row), category);
      if (!isTaken) return { state: 'dropped', reason: 'cap' };
    }
    const message: PushMessage = {
      deliveryId: job.id,
      content,
      collapseId: subject.collapseId,
      ttl: Math.floor(secondsLeft),
      urgency,
    };
    return { ...target, message, secondsLeft };
  }

  return async (channel, job, row) => {
    const { notice, notification_id: id, seconds_left: secondsLeft } = row;
    if (notice !== null) {
      const subject = { contentFor: contentOfNotice(id, notice), collapseId: id, secondsLeft };
      return { result: await prepare(channel, job, row, subject), category: null };
    }
    const [notification] = await database.user(job.user_id).query(selectNotification({ userId: job.user_id, id }));
    const subject = await contentOf(job, row, notification);
    const result = 'state' in subject ? subject : await prepare(channel, job, row, subject);
    return { result, category: notification?.category ?? null };
  };
}
