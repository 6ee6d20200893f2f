import { externalIdPrefix } from '../../contract/common.js';
import type { Queryable } from '../../database/database.js';
import { likePattern } from '../../database/listing.js';
import { bound, type Sql, sql, statement } from '../../database/sql.js';
import { isExternalReference } from '../../identities/user-references.js';
import { parseId } from '../../lib/ids.js';
import type { FieldError } from '../../lib/problem.js';
import { searchText } from '../../schema/late-indexes.js';
import { ownersOf } from './fields.js';
import type { FindMethod } from './finder.js';

/** The maximum length of a text in UTF-16 code units. It is the length of the longest identity. */
const maxLength = 320;

/** Spaces and invisible characters around a pasted text, such as the direction marks around copied phone numbers. */
const surroundingSpace = /^[\p{Z}\p{Cf}\s]+|[\p{Z}\p{Cf}\s]+$/gu;
/** Control characters and lone surrogates. */
const forbiddenCharacters = /[\p{Cc}\p{Cs}]/u;

/** Reads the text of a search. @returns undefined after it has added its error to `errors` */
export function readSearch(input: string, errors: FieldError[]): string | undefined {
  const fail = (code: FieldError['code'], params?: FieldError['params']) => {
    errors.push({ field: 'search', code, ...(params !== undefined && { params }) });
    return undefined;
  };
  if (input.length > maxLength) return fail('too_long', { max: maxLength });
  const text = input.replace(surroundingSpace, '').normalize('NFC');
  if (text === '') return fail('too_short', { min: 1 });
  return forbiddenCharacters.test(text) ? fail('invalid_characters') : text;
}

/**
 * Decides how to find the users that contain a text. The index contains groups of three letters or digits, so a text of exactly three is a
 * key of the index (`trigram`). For a text
 * without such a group, PostgreSQL would read the whole index, and would not even notice the statement timeout. Whether the
 * index contains letters other than a to z depends on the locale of the database. For texts of such letters, the planner
 * decides whether to use the index.
 */
export function findMethod(text: string): FindMethod {
  if (/^[a-z0-9]{3}$/i.test(text)) return 'trigram';
  if (/[a-z0-9]{3}/i.test(text)) return 'index';
  return /[\p{L}\p{N}]{3}/u.test(text) ? 'planner' : 'scan';
}

/** The users that a search matches. `ids`: only these users. `condition`: SQL on the user `u`, for the index. */
export type Match = { readonly ids: readonly string[] } | { readonly condition: Sql };

/** Digits as people write a phone number. */
const phoneLike = /^\+?[\d\s()./-]{3,}$/;

/**
 * Decides what a text matches. A UUID matches the user, device or external id that is equal to it, and nothing else. The full mail address or
 * phone number of a user matches this user and those who have linked an account at a provider with this address. `external:` with an external
 * id matches its user. Any other text matches where it is a part of a user name, a mail address, a phone number or a name, the whole external
 * id, or the subject or mail address of a linked account.
 */
export async function matchOf(handle: Queryable, text: string, defaultRegion: string | undefined): Promise<Match> {
  const usersWithExternalId = (externalId: string) => ownersOf(handle, 'external_id', [externalId], defaultRegion);
  const id = parseId(text);
  if (id !== undefined) {
    const userIds = (await handle.query(findById({ id }))).map((row) => row.id);
    return { ids: [...new Set([...userIds, ...(await usersWithExternalId(text))])] };
  }
  if (isExternalReference(text)) {
    const userIds = await usersWithExternalId(text.slice(externalIdPrefix.length));
    if (userIds.length > 0) return { ids: userIds };
  }
  const owners = [
    ...(text.includes('@') ? await ownersOf(handle, 'email', [text], defaultRegion) : []),
    ...(phoneLike.test(text) ? await ownersOf(handle, 'phone', [text], defaultRegion) : []),
  ];
  const linked = await findByLinkedAccount(handle, text);
  if (owners.length > 0) return { ids: [...new Set([...owners, ...linked])] };
  const userIds = [...(await usersWithExternalId(text)), ...linked];
  const part = partCondition(text);
  return { condition: userIds.length === 0 ? part : sql`(${part} or u.id = any(${bound(userIds)}::uuid[]))` };
}

const findLinked = statement<{ text: string }, { user_id: string }>(
  'external_identity_search',
  // Two indexes find them. The addresses of an account at a provider are not unique.
  (p) => sql`
  (select user_id from external_identities where subject = ${p.text} limit 100)
  union (select user_id from external_identities where email = lower(${p.text}) limit 100)`,
);

/** The ids of the users who have linked an account with this subject or this mail address. */
async function findByLinkedAccount(handle: Queryable, text: string): Promise<string[]> {
  return (await handle.query(findLinked({ text }))).map((row) => row.user_id);
}

const findById = statement<{ id: string }, { id: string }>(
  'user_search_id',
  (p) => sql`
    select id from users where id = ${p.id}
    union select user_id from devices where id = ${p.id}`,
);

/**
 * SQL: whether the text is a part of the user `u`. Names are stored as they were sent, so both normal forms of letters with
 * accents are compared. Phone numbers are stored without spaces, brackets and a leading zero.
 */
function partCondition(text: string): Sql {
  const contains = (part: string) => sql`${searchText} like lower(${bound(likePattern(part))}::text)`;
  const like = (part: string) => {
    const [composed, decomposed] = [part, part.normalize('NFD')];
    return composed === decomposed ? contains(part) : sql`(${contains(composed)} or ${contains(decomposed)})`;
  };
  const digits = text.replace(/[^\d+]/g, '').replace(/^0+/, '');
  const isNumber = phoneLike.test(text) && digits !== text && digits.length >= 3;
  return isNumber ? sql`(${like(text)} or ${like(digits)})` : like(text);
}
