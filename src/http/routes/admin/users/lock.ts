import { LockRequest, LogoutResult, User } from '../../../../contract/user.js';
import type { Database } from '../../../../database/database.js';
import type { Users } from '../../../../users/users.js';
import { IdParams, pathId } from '../../../requests/parameters.js';
import {
  type App,
  callerOf,
  memberOf,
  originOf,
  requireRightToChange,
  requireRightToSee,
} from '../../../requests/route.js';

/** Routes that lock, unlock and log out a user. Each takes effect from the next request on, on all instances. */
export function adminUserLockRoutes(
  app: App,
  { users, database }: { users: Users; database: Pick<Database, 'user'> },
): void {
  app.route({
    method: 'POST',
    url: '/admin/v1/users/:id/lock',
    schema: {
      operationId: 'lockUser',
      summary: 'Lock a user',
      description:
        'Locks the user until a time, or permanently. A locked user gets no token and no session, and existing sessions are refused. A lock replaces an earlier one.',
      params: IdParams,
      body: LockRequest,
      response: { 200: { ...User, description: 'The user with the lock.' } },
    },
    config: {
      access: { scope: 'users:write' },
      recentProof: {
        when: 'the lock is permanent',
        applies: (request) => memberOf(request, 'permanent') === true,
      },
      problems: ['not_found'],
    },
    async handler(request, reply) {
      const id = pathId(request.params);
      const locked = await database.user(id).transaction(async (tx) => {
        const before = await users.getForUpdate(tx, id);
        requireRightToChange(callerOf(request), before);
        const user = await users.lock(tx, id, request.body, originOf(request));
        requireRightToSee(callerOf(request), before, user);
        return user;
      });
      return reply.send(locked);
    },
  });

  app.route({
    method: 'POST',
    url: '/admin/v1/users/:id/unlock',
    schema: {
      operationId: 'unlockUser',
      summary: 'Unlock a user',
      params: IdParams,
      response: { 200: { ...User, description: 'The user without a lock.' } },
    },
    // Unlocking allows new guesses at every secret of the user.
    config: { access: { scope: 'users:write' }, recentProof: 'needed', problems: ['not_found'] },
    async handler(request, reply) {
      const id = pathId(request.params);
      const unlocked = await database.user(id).transaction(async (tx) => {
        const before = await users.getForUpdate(tx, id);
        requireRightToChange(callerOf(request), before);
        const user = await users.unlock(tx, id, originOf(request));
        requireRightToSee(callerOf(request), before, user);
        return user;
      });
      return reply.send(unlocked);
    },
  });

  app.route({
    method: 'POST',
    url: '/admin/v1/users/:id/logout',
    schema: {
      operationId: 'logoutUser',
      summary: 'Log a user out everywhere',
      params: IdParams,
      response: { 200: { ...LogoutResult, description: 'Every authentication token and session has ended.' } },
    },
    config: { access: { scope: 'users:write' }, recentProof: 'not-needed', problems: ['not_found'] },
    async handler(request, reply) {
      const id = pathId(request.params);
      const endedCount = await database.user(id).transaction(async (tx) => {
        requireRightToChange(callerOf(request), await users.getForUpdate(tx, id));
        return users.logout(tx, id, originOf(request));
      });
      return reply.send({ ended: endedCount });
    },
  });
}
