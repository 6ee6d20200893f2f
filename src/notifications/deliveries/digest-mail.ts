import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Category, RenderedMessage } from '../../contract/category.js';
import type { Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { preferredLanguage } from '../../lib/language.js';
import { isReadNow, joinReadState } from '../inbox/unread.js';
import { countText } from '../templates/count-text.js';
import { inOneLine, TemplateTooLarge } from '../templates/render.js';
import { createTexts, type MessageValues, renderMessage, textFor } from '../templates/templates.js';
import type { CellChoice } from './decide.js';
import { defaultMailChoice, mailChoice } from './digests.js';

/** A member of a digest as its mail shows it. */
export interface DigestItem {
  readonly actor: string | null;
  readonly description: string;
  readonly extra: { readonly data?: Record<string, unknown>; readonly url?: string } | null;
}

/** What a mail of a digest needs. */
export interface DigestContent {
  /** How many members are still unread. */
  readonly unread: number;
  /** The number of them for which the user still wants mails. */
  readonly wanted: number;
  /** The newest of the wanted ones, up to the number that the mail shows. */
  readonly items: readonly DigestItem[];
}

type ContentRow = { unread: number; wanted: number } & (DigestItem | Record<keyof DigestItem, null>);

const selectContent = statement<
  { userId: string; ids: readonly string[]; category: string; byDefault: CellChoice | null; max: number },
  ContentRow
>(
  'digest_content',
  (p) => sql`
    with unread as materialized (
      select n.sequence,
             ${p.byDefault}::text is null or coalesce(${mailChoice({ topics: sql`preferences.topics`, topic: sql`n.topic`, categories: sql`preferences.categories`, category: p.category })},
                                                ${p.byDefault}::text) <> 'off' as is_wanted
      from notifications n ${joinReadState(p.userId, sql`n.sequence`)}
        left join preferences on preferences.user_id = n.user_id
      where n.user_id = ${p.userId} and n.id = any (${p.ids}::uuid[]) and coalesce(n.expires_at > db_now(), true)
        and not ${isReadNow(sql`n.sequence`)}
    )
    select counts.unread, counts.wanted, n.actor, n.description, n.extra
    from (select count(*)::integer as unread, count(*) filter (where is_wanted)::integer as wanted from unread) counts
      left join (
        select sequence, actor, description, extra from notifications
        where user_id = ${p.userId}
          and sequence = any (array(select sequence from unread where is_wanted order by sequence desc limit ${p.max}::integer))
      ) n on true
    order by n.sequence desc`,
);

/** Reads the content of a digest's mail: the members that are still unread and wanted, the newest first. */
export async function readDigest(
  handle: Queryable,
  userId: string,
  {
    ids,
    name,
    category,
  }: { readonly ids: readonly string[]; readonly name: string; readonly category: Category | undefined },
): Promise<DigestContent> {
  const max = category?.digest?.max_items ?? defaultMaxItems;
  const rows = await handle.query(
    selectContent({ userId, ids, category: name, byDefault: defaultMailChoice(category), max }),
  );
  const items = rows.flatMap(({ actor, description, extra }) =>
    description === null ? [] : [{ actor, description, extra }],
  );
  return { unread: rows[0]?.unread ?? 0, wanted: rows[0]?.wanted ?? 0, items };
}

/** The maximum number of notifications in the mail of a digest, if its category has no `max_items` any more. */
const defaultMaxItems = 20;

/**
 * Renders the mail of a digest: the text of each notification by the category's template, the newest first. The whole mail has the size
 * limit of one message. Notifications that do not fit are counted. A digest of one notification looks like a normal mail. Other work can
 * run between two notifications.
 * @param total the number of notifications in the digest
 * @throws TemplateTooLarge if no notification has room
 */
export async function renderDigest(
  { name, title, templates }: Category,
  { items, total }: { readonly items: readonly DigestItem[]; readonly total: number },
  { locale, timeZone, userName, app }: { locale: string | null; timeZone: string; userName: string; app: string },
): Promise<RenderedMessage> {
  const target = { channel: 'email', locale, timeZone } as const;
  const valuesOf = ({ actor, description, extra }: DigestItem): MessageValues => ({
    actor,
    description,
    url: extra?.url ?? null,
    data: extra?.data ?? null,
    user: { name: userName },
    app,
  });
  const [first] = items;
  if (first !== undefined && total === 1) return renderMessage(templates, target, valuesOf(first));
  const texts = createTexts(templates, target);
  const shown: string[] = [];
  for (const item of items) {
    await nextTurn();
    const text = texts.next(valuesOf(item));
    if (text !== undefined) shown.push(text);
  }
  if (shown.length === 0) throw new TemplateTooLarge();
  const language = preferredLanguage(locale ?? undefined);
  const more = total - shown.length;
  return {
    template: texts.template,
    // A former release has accepted titles of several lines.
    subject: inOneLine(`${textFor(title, locale ?? language) ?? name}: ${countText(total, language)}`),
    title: null,
    text: [...shown, ...(more > 0 ? [`+ ${more}`] : [])].join('\n\n'),
    html: null,
  };
}
