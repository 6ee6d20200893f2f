import { maxPage } from '../../contract/common.js';
import type { SortColumn } from '../../database/listing.js';
import type { FilterClause, FilterFields } from '../../lib/filter/fields.js';
import { collectFilter } from '../../lib/filter/parse.js';
import { nearest, truncateInput } from '../../lib/nearest.js';
import { type FieldError, throwIfErrors } from '../../lib/problem.js';
import { type Instant, parseTime, timeFormat } from '../../lib/times.js';
import type { QueryParameters } from '../requests/parameters.js';

/** The parameters that a list accepts. */
export interface ListQuerySpec<Field extends string = string> {
  /** Without `sort`, a list begins with the newest by the first of them. */
  readonly sortable: readonly [Field, ...Field[]];
  readonly filterFields: FilterFields;
  /** For lists with the parameter `search`. */
  readonly readSearch?: ReadSearch;
}

/** Reads the text of a search. @returns undefined after it has added its error to `errors` */
export type ReadSearch = (text: string, errors: FieldError[]) => string | undefined;

export interface ListQuery<Field extends string = string> {
  /** The number of the page, from 1. */
  readonly page: number;
  readonly limit: number;
  /** No field twice. */
  readonly sort: readonly SortColumn<Field>[];
  /** Only items strictly after this time. */
  readonly since?: Instant;
  /** An item must match all of these; empty without a filter. */
  readonly filter: readonly FilterClause[];
  readonly search?: string;
  /** The list's parameters as the client sent them, for the links that keep them. */
  readonly sentParameters: Readonly<Record<string, string>>;
}

export type { QueryParameters } from '../requests/parameters.js';

const parameterNames = ['page', 'limit', 'sort', 'since', 'filter', 'search'] as const;
const directions = ['asc', 'desc'] as const;
/** The number of items on a page. */
const [defaultLimit, maxLimit] = [20, 100];

/**
 * Parses `page`, `limit`, `sort`, `since`, `filter` and `search` of a list. Other parameters are ignored.
 *
 * @throws Problem `validation_failed` with all invalid parameters
 */
export function parseListQuery<Field extends string>(
  query: QueryParameters,
  spec: ListQuerySpec<Field>,
): ListQuery<Field> {
  const errors: FieldError[] = [];
  const sentParameters = readSingleValues(query, errors);
  if (spec.readSearch === undefined) delete sentParameters.search;
  const { page: pageText, limit: limitText, sort: sortText, since: sinceText, filter: filterText } = sentParameters;

  const page = pageText === undefined ? 1 : wholeNumber(pageText, maxPage);
  if (page === undefined) errors.push({ field: 'page', code: 'invalid_page', params: { max: maxPage } });

  const limit = limitText === undefined ? defaultLimit : wholeNumber(limitText, maxLimit);
  if (limit === undefined) errors.push({ field: 'limit', code: 'invalid_limit', params: { min: 1, max: maxLimit } });

  const newest = [{ field: spec.sortable[0], direction: 'desc' as const }];
  const sort = sortText === undefined ? newest : readSort(sortText, spec.sortable, errors);

  const since = sinceText === undefined ? undefined : parseTime(sinceText);
  if (sinceText !== undefined && since === undefined) {
    errors.push({ field: 'since', code: 'invalid_since', params: { format: timeFormat } });
  }

  const filter = filterText === undefined ? [] : collectFilter(filterText, spec.filterFields, errors);

  const search = sentParameters.search === undefined ? undefined : spec.readSearch?.(sentParameters.search, errors);

  throwIfErrors(errors);
  // The defaults satisfy the compiler: if a value is undefined, an error was thrown above.
  return {
    page: page ?? 1,
    limit: limit ?? defaultLimit,
    sort,
    ...(since && { since }),
    filter,
    ...(search && { search }),
    sentParameters,
  };
}

type SentParameters = Partial<Record<(typeof parameterNames)[number], string>>;

function readSingleValues(query: QueryParameters, errors: FieldError[]): SentParameters {
  const sentParameters: SentParameters = {};
  for (const field of parameterNames) {
    const value = query[field];
    if (typeof value === 'string') sentParameters[field] = value;
    else if (value !== undefined) errors.push({ field, code: 'repeated_parameter' });
  }
  return sentParameters;
}

/** Digits only: `Number` would also take `1e3`, ` 7 ` and the empty string. */
function wholeNumber(text: string, max: number): number | undefined {
  const value = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN;
  return value <= max ? value : undefined;
}

/** Parses `field[:direction]`, joined by `,` or `|`. Stops at the first error. */
function readSort<Field extends string>(
  text: string,
  sortable: readonly Field[],
  errors: FieldError[],
): SortColumn<Field>[] {
  const keys: SortColumn<Field>[] = [];
  for (const piece of text.split(/[,|]/)) {
    const [name = '', ...rest] = piece.split(':');
    const directionText = rest.length === 0 ? 'desc' : rest.join(':');
    const field = sortable.find((candidate) => candidate === name);
    const direction = directions.find((candidate) => candidate === directionText);
    const isNew = keys.every((key) => key.field !== field);
    if (field === undefined || direction === undefined || !isNew) {
      const suggestion = isNew
        ? `${nearest(name, sortable)}:${nearest(directionText, directions)}`
        : keys.map((key) => `${key.field}:${key.direction}`).join(',');
      errors.push({
        field: 'sort',
        code: 'invalid_sort',
        params: { value: truncateInput(piece), suggestion, allowed: sortable.join(', ') },
      });
      return [];
    }
    keys.push({ field, direction });
  }
  return keys;
}
