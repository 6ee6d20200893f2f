import type { Category } from '../../contract/category.js';
import { text } from '../../contract/errors/text.js';
import { timeText } from '../../database/clock.js';
import type { Database } from '../../database/database.js';
import { type Sql, type SqlPart, sql, statement } from '../../database/sql.js';
import type { SecretKeys } from '../../lib/crypto/secret-keys.js';
import { escapeHtml } from '../../lib/html.js';
import { idFromBytes, idToBytes, newId } from '../../lib/ids.js';
import { preferredLanguage } from '../../lib/language.js';
import { isSubscribed } from '../inbox/webhook-events.js';

/** The parts of a mail that unsubscribe from its category. */
export interface UnsubscribeParts {
  readonly headers: Readonly<Record<string, string>>;
  /** The end of the mail, as text and as HTML, or null. */
  readonly footer: { readonly text: string; readonly html: string } | null;
}

/** The links in mails by which people turn a category off without a session (RFC 8058). */
export interface Unsubscribe {
  /**
   * The headers and the footer of a mail. A critical category has none, because nobody can turn it off.
   * @param user.locale such as es-MX, for the footer
   * @returns undefined if there is no public URL for the link: then the mail must not be sent
   */
  partsFor(
    category: Pick<Category, 'name' | 'is_critical'>,
    user: { readonly id: string; readonly locale: string | null },
  ): UnsubscribeParts | undefined;
  /**
   * Turns the category of a token off for mail, also for topics that the user has turned on. It always takes one statement, and does not
   * reveal whether the token is valid, the user exists or the category was on.
   */
  turnOff(token: string): Promise<void>;
}

/** SQL: whether mail of the category is off already. */
const isOff = (category: SqlPart): Sql =>
  sql`(preferences.categories #>> array[${category}::text, 'email', 'value'] is not distinct from 'off')`;

/** SQL: whether the user has turned on mails for a topic. This overrides the category. */
const hasTopicMail = sql`preferences.topics @? '$.*.email ? (@.value != "off")'`;

/** SQL: the choices for topics, without those that turn on mails. */
const topicsWithoutMail = sql`coalesce((
      select jsonb_object_agg(key, kept)
      from jsonb_each(preferences.topics) topic (key, cells)
        cross join lateral (select case when cells #>> '{email,value}' <> 'off' then cells - 'email' else cells end as kept) rest
      where kept <> '{}'), '{}')`;

/**
 * One statement, so that every token takes the same time. It locks the inbox row first, as every change of preferences does. If the
 * category is off already, the time of that choice stays. Choices that turn on mails for a topic are removed, because they override the
 * category: otherwise these mails would continue. `known` is read before the change, for the event.
 */
const turnOffMail = statement<{ userId: string; category: string }>(
  'preferences_unsubscribe',
  (p) => sql`
    with inbox as materialized (select user_id from inboxes where user_id = ${p.userId} for no key update),
    known as materialized (
      select user_id, categories, topics from preferences where user_id = (select user_id from inbox) for no key update
    ),
    changed as (
    insert into preferences (user_id, categories)
    select inbox.user_id, jsonb_build_object(${p.category}::text, jsonb_build_object(
      'email', jsonb_build_object('value', 'off', 'chosen_at', ${timeText(sql`db_now()`)})))
    from inbox left join known on known.user_id = inbox.user_id
    on conflict (user_id) do update
    set categories = case when ${isOff(p.category)} then preferences.categories
          else preferences.categories || jsonb_build_object(${p.category}::text,
            coalesce(preferences.categories -> ${p.category}::text, '{}') || (excluded.categories -> ${p.category}::text)) end,
        topics = case when ${hasTopicMail} then ${topicsWithoutMail} else preferences.topics end
    where not ${isOff(p.category)} or ${hasTopicMail}
    returning user_id)
    insert into webhook_outbox (created_at, type, actor, user_ids, data)
    select db_now(), 'preference.changed', 'user', array[user_id], jsonb_build_object('fields', array(
      select 'categories.' || ${p.category}::text || '.email'
      where not exists (select from known preferences where ${isOff(p.category)})
      union all
      select 'topics.' || key || '.email' from known cross join lateral jsonb_each(known.topics) topic (key, cells)
      where cells #>> '{email,value}' <> 'off'))
    from changed where ${isSubscribed(sql`'preference.changed'`)}`,
);

const idBytes = 16;
const macBytes = 32;

/**
 * Creates the links. A token is base64url of the user's id, an HMAC-SHA256 and the name of the category. It is stored nowhere, never
 * expires, and stays valid while the key that made it is one of SECRET_KEY.
 * @param options.publicUrl without a slash at the end. Undefined: there are no links
 * @param options.domain the domain of the sender, for `List-Id`
 * @param options.footer the postal address of the sender
 */
export function createUnsubscribe({
  database,
  keys,
  publicUrl,
  domain,
  footer,
}: {
  readonly database: Pick<Database, 'user'>;
  readonly keys: SecretKeys;
  readonly publicUrl: string | undefined;
  readonly domain: string;
  readonly footer: string | undefined;
}): Unsubscribe {
  const macOf = (userId: string, category: string) => keys.digest('unsubscribe', `${userId} ${category}`);

  function tokenOf(userId: string, category: string): string {
    return Buffer.concat([idToBytes(userId), macOf(userId, category), Buffer.from(category)]).toString('base64url');
  }

  /** Returns undefined for a token of other keys. */
  function read(token: string): { readonly userId: string; readonly category: string } | undefined {
    const bytes = Buffer.from(token, 'base64url');
    // One token has one spelling.
    if (bytes.length <= idBytes + macBytes || bytes.toString('base64url') !== token) return undefined;
    const userId = idFromBytes(bytes.subarray(0, idBytes));
    const category = bytes.toString('utf8', idBytes + macBytes);
    const mac = bytes.subarray(idBytes, idBytes + macBytes);
    return keys.matches('unsubscribe', `${userId} ${category}`, mac) ? { userId, category } : undefined;
  }

  return {
    partsFor({ name, is_critical: isCritical }, { id, locale }) {
      if (isCritical) return { headers: {}, footer: null };
      if (publicUrl === undefined) return undefined;
      const link = `${publicUrl}/u/${tokenOf(id, name)}`;
      return {
        headers: {
          'List-Unsubscribe': `<${link}>`,
          'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
          'List-Id': `<${labelsOf(name)}.${domain}>`,
        },
        footer: footer === undefined ? null : footerOf(footer, link, locale),
      };
    },
    async turnOff(token) {
      // For an invalid token, the same statement runs with a new id, and finds nothing.
      const { userId, category } = read(token) ?? { userId: newId(), category: 'none' };
      await database.user(userId).query(turnOffMail({ userId, category }));
    },
  };
}

/** A name of a category as the labels of `List-Id` (RFC 2919, section 3), none of which may be empty. */
const labelsOf = (category: string) =>
  category
    .split('.')
    .map((label) => (label === '' ? '-' : label))
    .join('.');

const unsubscribeText = text('Get no more mails of this kind', 'No recibir más correos de este tipo');

function footerOf(address: string, link: string, locale: string | null) {
  const label = unsubscribeText[preferredLanguage(locale ?? undefined)];
  const lines = address.split('\n').map(escapeHtml).join('<br>');
  return {
    text: `${address}\n\n${label}:\n${link}`,
    html: `<p>${lines}</p><p><a href="${escapeHtml(link)}">${escapeHtml(label)}</a></p>`,
  };
}
