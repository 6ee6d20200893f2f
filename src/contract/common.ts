import { type Static, type TSchema, Type } from 'typebox';

/** Any 8-4-4-4-12 hexadecimal form. Existing clients send ids that are not variants of RFC 9562. */
export const uuidPattern = '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$';

/** Reserved device ids. Guess budgets that belong to no device use them. */
const reservedDevicePattern = '^0{8}-0{4}-0{4}-0{4}-0{11}[0-9a-fA-F]$';

/** Whether an id is reserved: see `reservedDevicePattern`. */
export const isReservedDeviceId = (id: string): boolean => new RegExp(reservedDevicePattern).test(id);

export const pinPattern = '^[0-9]{4,12}$';

/** An id in a request. Responses contain it in lower case. */
export const IdInput = Type.String({ pattern: uuidPattern, examples: ['582a5abb-1335-4794-4855-11e067b8c55e'] });

/** The id of a device in requests. `null` means that none is given. */
export const DeviceIdInput = Type.Unsafe<string | null>({
  ...IdInput,
  type: ['string', 'null'],
  not: { type: 'string', pattern: reservedDevicePattern },
});

/** With this prefix, an admin request names a user by the external id of the user (`external_id`). */
export const externalIdPrefix = 'external:';
/** The most characters of an external id, in UTF-16 code units. */
export const maxExternalIdLength = 255;

/** A user in an admin request: by the id, or by the external id. */
export const UserReference = Type.String({
  pattern: `${uuidPattern.slice(0, -1)}$|^${externalIdPrefix}.{1,${maxExternalIdLength}}$`,
  description: 'The id of a user, or `external:` and the `external_id` of the user.',
  examples: ['582a5abb-1335-4794-4855-11e067b8c55e'],
});

/** With these prefixes, a publisher names a user by an identity of the user. */
export const recipientPrefixes = ['external', 'email', 'phone', 'username'] as const;

/** A user to whom a notification is published. */
export const Recipient = Type.String({
  pattern: `${uuidPattern.slice(0, -1)}$|^(?:${recipientPrefixes.join('|')}):.{1,320}$`,
  description:
    'The id of a user; or `external:` and the `external_id`, `email:` and the proven mail address, `phone:` and the proven phone number, or `username:` and the user name of a user.',
  examples: ['582a5abb-1335-4794-4855-11e067b8c55e'],
});

export const Id = Type.String({ format: 'uuid', examples: ['0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11'] });

/** RFC 3339, UTC, always six fractional digits. */
export const Time = Type.String({ format: 'date-time', examples: ['2017-10-19T17:02:03.181879Z'] });

/** The types above, but with `null` for a missing value. One `type` list keeps the serialiser fast. */
export const NullableId = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'uuid' });
export const NullableTime = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' });
export const NullableString = Type.Unsafe<string | null>({ type: ['string', 'null'] });
export const NullableNumber = Type.Unsafe<number | null>({ type: ['number', 'null'] });

/** Any JSON object. Not `Type.Record`: its pattern `^.*$` would drop keys with a line break from answers. */
export const AnyObject = (description: string, title?: string) =>
  Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    description,
    ...(title !== undefined && { title }),
  });

/** A string that may be `null`, which means that none is given. */
export const NullableText = (maxLength: number) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], minLength: 0, maxLength });

/** A string that requests can set. Its length counts UTF-16 code units, as validators of JSON Schema do. */
export const Text = (maxLength: number, minLength = 0) => Type.String({ minLength, maxLength });

/** The highest page number. Multiplied by any limit, it is still an exact number. */
export const maxPage = 1_000_000_000;

/** The parameters that are the same for every list. */
const sharedParameters = {
  page: Type.Optional(
    Type.Unsafe<string>({ type: 'integer', minimum: 1, maximum: maxPage, description: 'Page number, from 1.' }),
  ),
  limit: Type.Optional(
    Type.Unsafe<string>({ type: 'integer', minimum: 1, maximum: 100, default: 20, description: 'Items per page.' }),
  ),
  since: Type.Optional(
    Type.Unsafe<string>({
      type: 'string',
      description: 'Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.',
      examples: ['2017-10-19 17:02:03'],
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      description:
        'The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.',
    }),
  ),
};

/** The query parameters of every list. They arrive as text; `http/lists/list-query.ts` checks them. */
export const ListQuery = (sortable: readonly string[], filterExample: string) => {
  const { page, limit, since, cursor } = sharedParameters;
  return Type.Object({
    page,
    limit,
    sort: Type.Optional(
      Type.Unsafe<string>({
        type: 'string',
        description: `${sortable.join(' or ')}, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.`,
        examples: [`${sortable[0] ?? 'created_at'}:desc`],
      }),
    ),
    filter: Type.Optional(
      Type.Unsafe<string>({
        type: 'string',
        description:
          'Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.',
        examples: [filterExample],
      }),
    ),
    since,
    cursor,
  });
};

/** A page of a list in an envelope. */
export interface ListPage<Item> {
  readonly data: Item[];
  readonly page: PageInfo;
}

export const PageInfo = Type.Object(
  {
    number: Type.Integer({ minimum: 1 }),
    limit: Type.Integer({ minimum: 1 }),
    total: Type.Integer({
      minimum: 0,
      description: 'The number of items on all pages. With a filter, items are counted only up to 1000.',
    }),
    total_is_exact: Type.Boolean(),
    partial: Type.Optional(
      Type.Enum(['time', 'index'] as const, {
        title: 'PartialReason',
        description:
          'Items may be missing; `next_cursor` continues the search. time: the search reached its time limit. index: the search is slow, because its index does not exist (yet). Absent: the page is complete.',
      }),
    ),
    next_cursor: Type.Unsafe<string | null>({
      ...NullableString,
      description: 'Send it as `cursor` to get the next page. null on the last page.',
    }),
  },
  { title: 'PageInfo' },
);
export type PageInfo = Static<typeof PageInfo>;

/** The schema of a page of a list in an envelope. */
export const PageOf = <Item extends TSchema>(item: Item, title: string) =>
  Type.Object({ data: Type.Array(item), page: PageInfo }, { title });

/** The solution of a challenge, in requests that HUMAN_CHECK protects. */
export const HumanCheckToken = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 1024,
    description:
      'The solution of the challenge in a problem `human_check_required`: base64 of the JSON text `{"algorithm", "challenge", "number", "salt", "signature"}`.',
  }),
);
