import { type Static, Type } from 'typebox';
import { Id, IdInput } from './common.js';
import { UserPreferenceChanges } from './preferences.js';
import { ProblemBody } from './problem.js';
import { NewUser } from './user.js';

/** A user from another system: one line of an import. */
export const UserToImport = Type.Object(
  {
    id: Type.Optional({ ...IdInput, description: 'The id of the user. Existing references to it stay valid.' }),
    ...NewUser.properties,
    preferences: Type.Optional({
      ...UserPreferenceChanges,
      description: 'What the user has chosen about notifications, as in PATCH /v1/preferences.',
    }),
    created_at: Type.Optional(
      Type.String({ maxLength: 64, description: 'When the other system created the user. A time in the past.' }),
    ),
  },
  {
    title: 'UserToImport',
    examples: [
      {
        id: '0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11',
        email: 'ada@example.com',
        name: 'Ada Lovelace',
        password_hash: '$2b$10$VGhpcyBpcyBhIHNhbHQgKeC9x3Yw6pQ2m0n1v4k8j7h5g3f2d1s0a',
        created_at: '2017-10-19T17:02:03Z',
      },
    ],
  },
);
export type UserToImport = Static<typeof UserToImport>;

const importResults = ['created', 'exists', 'failed', 'valid'] as const;

/** A line of the response to an import. `line` is the number of the line in the request; the last line may have none. */
export const ImportedLine = Type.Object(
  {
    line: Type.Optional(Type.Integer({ minimum: 1 })),
    result: Type.Optional(
      Type.Enum(importResults, {
        title: 'ImportOutcome',
        description: 'exists: the user exists already and was not changed. valid: the user would be created (dry_run).',
      }),
    ),
    id: Type.Optional(Id),
    errors: Type.Optional(ProblemBody.properties.errors),
    status: Type.Optional(Type.Integer({ description: 'The status of the error that ended the import early.' })),
    code: Type.Optional(Type.String({ description: 'The code of this error.' })),
    committed_lines: Type.Optional(
      Type.Integer({ description: 'With code: lines up to this number are committed, later lines are not.' }),
    ),
  },
  {
    title: 'ImportResult',
    examples: [
      { line: 1, result: 'created', id: '0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11' },
      {
        line: 2,
        result: 'failed',
        errors: [{ field: 'email', code: 'identity_taken', message: 'Another user has this value.' }],
      },
      { status: 503, code: 'storage_unavailable', committed_lines: 2 },
    ],
  },
);
export type ImportedLine = Static<typeof ImportedLine>;
