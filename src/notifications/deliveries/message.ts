import { renderMessage } from '../templates/templates.js';
import type { Attempt } from './attempt.js';
import { renderDigest } from './digest-mail.js';
import type { StepMessage } from './sender.js';
import type { Target } from './target.js';

/**
 * Makes the message of an attempt.
 * @throws TemplateTooLarge if the text of its template is too long
 */
export async function createMessage(
  { channel, job, row }: Attempt,
  { category, to, digest, expiresAt }: Target,
  options: { readonly app: string; readonly timeZone: string },
): Promise<StepMessage> {
  const { actor, description, extra, locale } = row;
  const url = extra?.url ?? null;
  const timeZone = row.time_zone ?? options.timeZone;
  const context = { user: { name: row.name ?? '' }, app: options.app };
  // Members without a stored id are only counted.
  const total = (row.digest_count ?? 0) - (row.member_ids?.length ?? 0) + (digest?.wanted ?? 0);
  const content =
    digest === null
      ? renderMessage(
          category.templates,
          { channel, locale, timeZone },
          { ...context, actor, description: description ?? '', url, data: extra?.data ?? null },
        )
      : await renderDigest(
          category,
          { items: digest.items, total },
          { locale, timeZone, userName: context.user.name, app: options.app },
        );
  return {
    userId: job.user_id,
    id: job.id,
    notificationId: row.notification_id,
    to,
    locale,
    content,
    url,
    category: category.name,
    isCritical: category.is_critical,
    expiresAt: `${new Date(expiresAt).toISOString().slice(0, -1)}000Z`,
  };
}
