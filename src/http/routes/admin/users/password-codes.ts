import type { PasswordCodes } from '../../../../account/password-codes.js';
import { PasswordCodeRequest, SentPasswordCode } from '../../../../contract/user.js';
import { IdParams, pathId } from '../../../requests/parameters.js';
import { type App, callerOf, originOf, requireRightToChange } from '../../../requests/route.js';

/** A route that sends a user a code to set a password. */
export function adminPasswordCodeRoutes(app: App, { passwordCodes }: { passwordCodes: PasswordCodes }): void {
  app.route({
    method: 'POST',
    url: '/admin/v1/users/:id/password-codes',
    schema: {
      operationId: 'sendPasswordCode',
      summary: 'Send a user a code to set a password',
      description:
        'Sends a code to a proven mail address or phone number of the user. The code replaces the password. The user logs in with it as the password, once, and the login asks for a password of their own (`challenge.type` `new_password`). Nobody else sees the code. Every login of the user ends. The limits of login codes apply. For users with a role, this needs the scope admin.',
      params: IdParams,
      body: PasswordCodeRequest,
      response: { 201: { ...SentPasswordCode, description: 'The code will be sent.' } },
    },
    config: {
      access: { scope: 'users:write' },
      recentProof: 'needed',
      problems: ['not_found', 'too_many_requests'],
    },
    async handler(request, reply) {
      const caller = callerOf(request);
      const sent = await passwordCodes.send(pathId(request.params), request.body.channel, originOf(request), (user) =>
        requireRightToChange(caller, user),
      );
      return reply.code(201).send(sent);
    },
  });
}
