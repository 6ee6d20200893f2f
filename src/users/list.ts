import type { User } from '../contract/user.js';
import type { Database } from '../database/database.js';
import { type ListRequest, type Page, readPage } from '../database/listing.js';
import { bound, join, sql } from '../database/sql.js';
import type { FilterClause } from '../lib/filter/fields.js';
import { findUsers, toUser, type UserRow, userColumns } from './queries.js';
import { resolveIdentities, userCondition } from './search/fields.js';
import { createFinder, type FinderOptions } from './search/finder.js';
import { findMethod, matchOf } from './search/text.js';

/** A list of users, with the text of a search that `readSearch` has read. */
export interface UserListRequest extends ListRequest {
  readonly search?: string;
}

/** Reads one page of users. A page that takes too long is partial. */
export type ListUsers = (request: UserListRequest) => Promise<Page<User>>;

/** @param options.defaultRegion the region (ISO 3166) of phone numbers without a country code */
export function createUserList(options: FinderOptions & { readonly defaultRegion: string | undefined }): ListUsers {
  const { database, defaultRegion } = options;
  const find = createFinder(options);
  return async ({ filter: namedFilter, search, ...request }) => {
    const filter = await resolveIdentities(database, namedFilter, defaultRegion);
    const match = search === undefined ? undefined : await matchOf(database, search, defaultRegion);
    const ids = match !== undefined && 'ids' in match ? [sql`u.id = any(${bound(match.ids)}::uuid[])`] : [];
    const parts = match !== undefined && 'condition' in match ? [match.condition] : [];
    const condition = join([userCondition(filter), ...ids, ...parts], ' and ');
    const isDirect = ids.length > 0 || filter.some(isIndexed) || (filter.length === 0 && parts.length === 0);
    if (isDirect) return readDirectly(database, request, condition);
    const method = filter.length === 0 && search !== undefined ? findMethod(search) : 'planner';
    const page = await find({ ...request, condition, by: method });
    const found = page.items.map(({ id }) => id);
    return { ...page, items: (await findUsers(database, found)).map(toUser) };
  };
}

/** Whether an index finds all users that match the condition, and there are only few of them. */
const isIndexed = ({ name, operator, values }: FilterClause) =>
  operator === 'eq' && (name === 'id' || (name === 'guess_locked' && !values.includes('false')));

/** Reads a page of few users, or of all users. An index finds them in one statement. */
async function readDirectly(
  database: Database,
  request: Omit<ListRequest, 'filter'>,
  condition: ReturnType<typeof sql>,
): Promise<Page<User>> {
  const source = { columns: userColumns, from: sql`users u`, where: condition } as const;
  const page = await readPage<UserRow>(database, source, { ...request, filter: [] });
  return { ...page, items: page.items.map(toUser) };
}
