import { maxListedUsers, type PublishedNotification } from '../../contract/publication.js';
import type { Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { isJsonObject } from '../../lib/json-object.js';
import type { FieldError } from '../../lib/problem.js';
import { parseTime } from '../../lib/times.js';

/** Look-ups in other folders. The composition root implements them. */
export interface PublicationLookups {
  /** Finds existing users by their id or another reference, such as `email:`. Returns their ids. */
  findUsers(handle: Queryable, references: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** The errors of a filter of users, with this path. */
  filterErrors(filter: string, field: string): FieldError[];
  /** The errors of the content of a notification. */
  contentErrors(notification: PublishedNotification): Promise<FieldError[]>;
}

const selectTopics = statement<{ key: string }, { id: string }>(
  'publication_topic',
  (p) => sql`select id from topics where key = ${p.key}`,
);
const selectUsers = statement<{ ids: readonly string[] }, { id: string }>(
  'publication_users',
  (p) => sql`select id from users where id = any (${p.ids}::uuid[])`,
);
const readClock = statement<{ at: string }, { is_past: boolean; is_far: boolean }>(
  'publication_clock',
  (p) => sql`
    select ${p.at}::timestamptz < db_now() as is_past, ${p.at}::timestamptz > db_now() + interval '366 days' as is_far`,
);

const targets = ['topic', 'user_ids', 'users', 'everyone'] as const;
/** The most errors of one answer. */
const maxErrors = 100;

/** The ids of the users in a list, each once, and the errors of unknown ones. Their form is checked elsewhere. */
export async function listedUsers(
  handle: Queryable,
  { findUsers }: Pick<PublicationLookups, 'findUsers'>,
  references: readonly unknown[],
): Promise<{ readonly ids: string[]; readonly errors: FieldError[] }> {
  const named = references.filter((each) => typeof each === 'string').slice(0, maxListedUsers);
  const ids = await findUsers(handle, named);
  const existing = new Set((await handle.query(selectUsers({ ids: [...new Set(ids.values())] }))).map(({ id }) => id));
  const errors = references.flatMap((reference, index): FieldError[] => {
    const id = typeof reference === 'string' ? ids.get(reference) : undefined;
    const isUnknown =
      typeof reference === 'string' && index < maxListedUsers && (id === undefined || !existing.has(id));
    return isUnknown ? [{ field: `to.user_ids.${index}`, code: 'unknown_user' }] : [];
  });
  return { ids: [...existing], errors };
}

/**
 * Finds the errors of a publication that the check against the schema does not find.
 * @param body may have any form
 * @param faults the errors that the schema has found, which are reported elsewhere
 */
export async function publicationErrors(
  handle: Queryable,
  lookups: PublicationLookups,
  body: unknown,
  faults: readonly FieldError[],
): Promise<FieldError[]> {
  if (!isJsonObject(body)) return [];
  const { to, notification, send_at: sendAt } = body;
  const errors = isJsonObject(to) ? await targetErrors(handle, lookups, to) : [];
  // A longer list of faults was cut, and may not have those of the notification.
  if (isJsonObject(notification) && faults.length < maxErrors) {
    const content = wellFormed(notification, 'notification.', faults) as PublishedNotification;
    const found = await lookups.contentErrors(content);
    errors.push(...found.map((error) => ({ ...error, field: `notification.${error.field ?? ''}` })));
  }
  if (typeof sendAt === 'string') errors.push(...(await timeErrors(handle, sendAt)));
  return errors.slice(0, maxErrors);
}

/** The members of a part of the body that have the right form. @param path the prefix of their fields in `faults` */
function wellFormed(part: Readonly<Record<string, unknown>>, path: string, faults: readonly FieldError[]): object {
  const faulty = new Set(
    faults.flatMap(({ field = '' }) => (field.startsWith(path) ? field.slice(path.length).split('.', 1) : [])),
  );
  return Object.fromEntries(Object.entries(part).filter(([name]) => !faulty.has(name)));
}

async function targetErrors(
  handle: Queryable,
  lookups: PublicationLookups,
  to: Readonly<Record<string, unknown>>,
): Promise<FieldError[]> {
  const given = targets.filter((name) => to[name] !== undefined);
  const fields = targets.join(', ');
  if (given.length === 0) return [{ field: 'to', code: 'one_required', params: { fields } }];
  if (given.length > 1) return [{ field: 'to', code: 'conflicting_fields', params: { fields } }];
  const { topic, user_ids: userIds, users, everyone } = to;
  if (everyone === false) return [{ field: 'to.everyone', code: 'invalid_choice', params: { allowed: 'true' } }];
  if (typeof users === 'string' && users !== '') return lookups.filterErrors(users, 'to.users');
  if (typeof topic === 'string') {
    const found = await handle.query(selectTopics({ key: topic }));
    return found.length === 0 ? [{ field: 'to.topic', code: 'unknown_topic' }] : [];
  }
  return Array.isArray(userIds) ? (await listedUsers(handle, lookups, userIds)).errors : [];
}

async function timeErrors(handle: Queryable, text: string): Promise<FieldError[]> {
  const time = /(?:Z|[+-]\d\d:\d\d)$/i.test(text) ? parseTime(text) : undefined;
  if (time === undefined) return [{ field: 'send_at', code: 'invalid_time' }];
  const [clock] = await handle.query(readClock({ at: time }));
  if (clock?.is_past) return [{ field: 'send_at', code: 'in_the_past' }];
  return clock?.is_far ? [{ field: 'send_at', code: 'too_far' }] : [];
}
