import { type Static, Type } from 'typebox';
import { Text, UserReference } from '../common.js';
import { ProblemBody } from '../problem.js';
import { LockRequest, User } from '../user.js';

const bulkActions = ['lock', 'unlock', 'logout', 'deactivate', 'activate', 'delete', 'export'] as const;

/** One action on many users. */
export const BulkRequest = Type.Object(
  {
    action: Type.Enum(bulkActions, { title: 'BulkAction' }),
    ids: Type.Optional(
      Type.Array(UserReference, {
        minItems: 1,
        maxItems: 1000,
        description: 'The users, by their ids or external ids.',
      }),
    ),
    search: Type.Optional(Text(2000, 1)),
    filter: Type.Optional({
      ...Text(2000, 1),
      description: 'Selects users, as in GET /admin/v1/users. `search` and `filter` can be combined.',
    }),
    lock: Type.Optional({ ...LockRequest, description: 'Required with the action lock, refused with other actions.' }),
    dry_run: Type.Optional(Type.Boolean({ description: 'Check every user, but change nothing.' })),
  },
  {
    title: 'BulkRequest',
    examples: [
      {
        action: 'lock',
        ids: ['0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11'],
        lock: { until: '2030-01-01T00:00:00Z', reason: 'Reported stolen' },
      },
      { action: 'deactivate', filter: 'last_login_at:lt:2020-01-01T00:00:00Z' },
    ],
  },
);
export type BulkRequest = Static<typeof BulkRequest>;

const Count = Type.Integer({ minimum: 0 });

const BulkSummary = Type.Object(
  {
    done: Count,
    unchanged: Count,
    failed: Count,
    valid: Type.Integer({ minimum: 0, description: 'With dry_run: users that the action would change.' }),
    complete: Type.Boolean({ description: 'false: the action ended early. `code` says why.' }),
  },
  { title: 'BulkSummary' },
);

/** A line of the response to a bulk action: the result of one user, or the summary at the end. */
export const BulkLine = Type.Object(
  {
    id: Type.Optional(
      Type.String({
        description: 'The id of the user. If nobody has the external id: what the request has sent.',
        examples: ['0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11'],
      }),
    ),
    reference: Type.Optional(
      Type.String({ description: 'What the request has sent, if it named the user by an external id (`external:…`).' }),
    ),
    result: Type.Optional(
      Type.Enum(['done', 'unchanged', 'failed', 'valid'] as const, {
        title: 'BulkOutcome',
        description: 'unchanged: the user was in this state already. valid: the user would be changed (dry_run).',
      }),
    ),
    ended: Type.Optional(Type.Integer({ description: 'With logout: the number of tokens that the action ended.' })),
    user: Type.Optional({ ...User, description: 'With export: the user.' }),
    errors: Type.Optional(ProblemBody.properties.errors),
    summary: Type.Optional({
      ...BulkSummary,
      description: 'The last line has only this, and status and code if it ended early.',
    }),
    status: Type.Optional(Type.Integer({ description: 'The status of the error that ended the action early.' })),
    code: Type.Optional(Type.String({ description: 'The code of this error.' })),
  },
  {
    title: 'BulkResult',
    examples: [
      { id: '0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11', result: 'done' },
      { summary: { done: 1, unchanged: 0, failed: 0, valid: 0, complete: true } },
    ],
  },
);
export type BulkLine = Static<typeof BulkLine>;
