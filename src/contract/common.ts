import { Type } from 'typebox';
import { reservedDevicePattern, uuidPattern } from './patterns.js';

/** An id as requests may spell it. Answers show it in lower case. */
export const IdInput = Type.String({ pattern: uuidPattern, examples: ['582a5abb-1335-4794-4855-11e067b8c55e'] });

/** The id of a device as requests may spell it. */
export const DeviceIdInput = Type.Unsafe<string>({ ...IdInput, not: { pattern: reservedDevicePattern } });

export const Id = Type.String({ format: 'uuid', examples: ['0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11'] });

/** RFC 3339, UTC, always six fractional digits. */
export const Time = Type.String({ format: 'date-time', examples: ['2017-10-19T17:02:03.181879Z'] });

/** The same types where a value may be absent: `null` then. One `type` list keeps the serialiser simple and quick. */
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

/** A string column that requests may set; counted in UTF-16 code units as JSON Schema's validators do. */
export const Text = (maxLength: number, minLength = 0) => Type.String({ minLength, maxLength });

/** Parameters of every list. They arrive as text and are checked by `http/list-query.ts`, which names each fault. */
export const ListQuery = (sortable: readonly string[], filterExample: string) =>
  Type.Object({
    page: Type.Optional(Type.Unsafe<string>({ type: 'integer', minimum: 1, description: 'Page number, from 1.' })),
    limit: Type.Optional(
      Type.Unsafe<string>({ type: 'integer', minimum: 1, maximum: 100, default: 20, description: 'Items per page.' }),
    ),
    sort: Type.Optional(
      Type.Unsafe<string>({
        type: 'string',
        description: `${sortable.join(' or ')}, each with :asc or :desc, several joined by a comma or |. Newest first without a direction.`,
        examples: [`${sortable[0] ?? 'created_at'}:desc`],
      }),
    ),
    filter: Type.Optional(
      Type.Unsafe<string>({
        type: 'string',
        description:
          'Conditions field:op:value, all of which must hold, joined by a comma or |. Operators: eq neq gt gte lt lte in like. A backslash takes the meaning from a separator.',
        examples: [filterExample],
      }),
    ),
    since: Type.Optional(
      Type.Unsafe<string>({
        type: 'string',
        description: 'Only what is strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.',
        examples: ['2017-10-19 17:02:03'],
      }),
    ),
  });
