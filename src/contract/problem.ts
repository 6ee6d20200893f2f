import { type Static, Type } from 'typebox';

/** A problem by RFC 9457, with two more members: `request_id` and `errors`. */
export const ProblemBody = Type.Object(
  {
    type: Type.String({ description: '`urn:postern:problem:` and the code.' }),
    title: Type.String(),
    status: Type.Integer({ minimum: 100, maximum: 599 }),
    detail: Type.String(),
    request_id: Type.String(),
    errors: Type.Array(
      Type.Object(
        {
          field: Type.Optional(Type.String({ examples: ['identity.type'] })),
          code: Type.String(),
          message: Type.String(),
        },
        { title: 'FieldError' },
      ),
    ),
  },
  { title: 'Problem' },
);
export type ProblemBody = Static<typeof ProblemBody>;

/** The challenge of a problem `human_check_required`, in the format of ALTCHA. */
export const HumanCheckChallenge = Type.Object(
  {
    type: Type.Literal('altcha'),
    challenge: Type.Object(
      {
        algorithm: Type.Literal('SHA-256'),
        challenge: Type.String({ description: 'The SHA-256, in hexadecimal, of `salt` and a number.' }),
        maxnumber: Type.Integer({ description: 'The number is between 0 and this.' }),
        salt: Type.String(),
        signature: Type.String(),
      },
      { title: 'AltchaChallenge' },
    ),
  },
  { title: 'HumanCheckChallenge' },
);
