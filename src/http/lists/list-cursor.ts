import type { Page, RowAnchor, SortColumn } from '../../database/listing.js';
import { parseId } from '../../lib/ids.js';
import { parseTime } from '../../lib/times.js';

/** The position of a page: its number, and the row next to it (decision 32). */
export interface ListCursor {
  readonly page: number;
  readonly anchor: RowAnchor;
}

type Sort = readonly SortColumn[];

/** The list and order that a cursor belongs to. */
export interface CursorScope {
  /** The name of the list, without spaces. */
  readonly list: string;
  readonly sort: Sort;
}

const scopeText = ({ list, sort }: CursorScope) =>
  [list, ...sort.map(({ field, direction }) => `${field}:${direction}`)].join(',');

/** Encodes a cursor as opaque text for this list and order. It contains only a time and an id, which the list shows too. */
export function encodeListCursor(scope: CursorScope, { page, anchor }: ListCursor): string {
  return Buffer.from([scopeText(scope), page, anchor.side, ...anchor.key].join(' ')).toString('base64url');
}

/** @returns undefined if the text is no cursor of this list and order */
export function decodeListCursor(text: string, scope: CursorScope): ListCursor | undefined {
  const [order, pageText = '', side, ...key] = Buffer.from(text, 'base64url').toString('latin1').split(' ');
  if (order !== scopeText(scope) || !/^[1-9]\d{0,9}$/.test(pageText)) return undefined;
  if (side !== 'after' && side !== 'before') return undefined;
  const [id, ...times] = [...key].reverse();
  const isKey = times.length === scope.sort.length && times.every((time) => parseTime(time) === time);
  if (!isKey || id === undefined || parseId(id) !== id) return undefined;
  return { page: Number(pageText), anchor: { side, key } };
}

/** The cursor of the next page; null if this page is the last one. */
export function nextCursor(scope: CursorScope, page: number, { ends, hasMore }: Page<unknown>): string | null {
  if (!hasMore || ends === undefined) return null;
  return encodeListCursor(scope, { page: page + 1, anchor: { side: 'after', key: ends.last } });
}

/** The cursor of the previous page; undefined if this page is empty. */
export function previousCursor(scope: CursorScope, page: number, { ends }: Page<unknown>): string | undefined {
  if (ends === undefined) return undefined;
  return encodeListCursor(scope, { page: Math.max(1, page - 1), anchor: { side: 'before', key: ends.first } });
}
