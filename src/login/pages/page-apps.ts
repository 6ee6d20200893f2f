import { timeText } from '../../database/clock.js';
import type { Database } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { newId, parseId } from '../../lib/ids.js';
import { Problem } from '../../lib/problem.js';

/** An app that a user lets use the login of the pages. */
export interface PageApp {
  readonly id: string;
  /** An entry of REDIRECT_URIS. */
  readonly redirect_uri: string;
  readonly allowed_at: string;
}

/** The apps that users let use the login of the pages, so that each asks only once. */
export interface PageApps {
  /** Newest first. */
  list(userId: string): Promise<readonly PageApp[]>;
  /** The app asks again next time. Its logins stay. @throws Problem `not_found` */
  remove(userId: string, id: string): Promise<void>;
  has(userId: string, app: string): Promise<boolean>;
  allow(userId: string, app: string): Promise<void>;
}

const listApps = statement<{ userId: string }, PageApp>(
  'page_apps_list',
  (p) => sql`
  select id, app as redirect_uri, ${timeText(sql`allowed_at`)} as allowed_at from page_apps
  where user_id = ${p.userId} order by page_apps.allowed_at desc, id`,
);

const findApp = statement<{ userId: string; app: string }, { id: string }>(
  'page_apps_find',
  (p) => sql`select id from page_apps where user_id = ${p.userId} and app = ${p.app}`,
);

/** The entries that are no longer listed go, so a user has no more rows than REDIRECT_URIS has entries. */
const insertApp = statement<{ userId: string; id: string; app: string; listed: readonly string[] }>(
  'page_apps_insert',
  (p) => sql`
  with gone as (delete from page_apps where user_id = ${p.userId} and app <> all (${p.listed}::text[]))
  insert into page_apps (user_id, id, app, allowed_at)
  select u.id, ${p.id}, ${p.app}, db_now() from users u where u.id = ${p.userId}
  on conflict do nothing`,
);

const deleteApp = statement<{ userId: string; id: string }, { id: string }>(
  'page_apps_delete',
  (p) => sql`delete from page_apps where user_id = ${p.userId} and id = ${p.id} returning id`,
);

/** @param listed REDIRECT_URIS */
export function createPageApps(database: Database, listed: readonly string[]): PageApps {
  return {
    list: (userId) => database.user(userId).query(listApps({ userId })),
    async remove(userId, text) {
      const id = parseId(text);
      const deleted = id === undefined ? [] : await database.user(userId).query(deleteApp({ userId, id }));
      if (deleted.length === 0) throw new Problem('not_found');
    },
    async has(userId, app) {
      return (await database.user(userId).query(findApp({ userId, app }))).length > 0;
    },
    async allow(userId, app) {
      await database.user(userId).query(insertApp({ userId, id: newId(), app, listed }));
    },
  };
}
