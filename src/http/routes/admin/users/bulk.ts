import type { FastifyRequest } from 'fastify';
import { errors } from '../../../../contract/errors/problems.js';
import type { Language } from '../../../../contract/errors/text.js';
import { BulkLine, BulkRequest } from '../../../../contract/users/bulk.js';
import { preferredLanguage } from '../../../../lib/language.js';
import { Problem } from '../../../../lib/problem.js';
import type { BulkAction, BulkOutcome, UserBulk } from '../../../../users/bulk.js';
import { toLine } from '../../../ndjson/items.js';
import { asProblem, problemBody } from '../../../plugins/problems.js';
import { type App, callerOf, originOf, requireRightToChange, requireScope } from '../../../requests/route.js';
import { writeAll } from '../../../requests/streams.js';

const bulkLines = {
  description:
    'One result per line, sent when the transaction of this user has committed, and a summary as the last line. Users without a line were not changed; only after an error of the storage, the state of the last ones may be unknown. If you repeat the request, users who are already in the wanted state stay unchanged.',
  content: { 'application/x-ndjson': { schema: BulkLine } },
};

/** The maximum time without progress of the reader, in milliseconds. */
const writeTimeoutMs = 15_000;

/** A route that runs one action for many users. */
export function adminUserBulkRoutes(app: App, { userBulk }: { userBulk: UserBulk }): void {
  const closing = new AbortController();
  app.addHook('preClose', async () => closing.abort());
  app.route({
    method: 'POST',
    url: '/admin/v1/users/bulk',
    schema: {
      operationId: 'changeUsers',
      summary: 'Do one thing to many users',
      description:
        'Locks, unlocks, logs out, deactivates, activates, deletes or exports users, named by their ids or by a list. Each user is changed separately and gets a result line. Users with a role are changed only with the scope admin, and your own account is never changed. All actions except export need the scope users:write.',
      body: BulkRequest,
      response: { 200: bulkLines },
    },
    config: { access: { scope: 'users:read' }, hasNoHandlerTimer: true, recentProof: 'needed' },
    async handler(request, reply) {
      const caller = callerOf(request);
      if (request.body.action !== 'export') requireScope(caller, 'users:write');
      const action = await userBulk.check(request.body);
      reply.hijack();
      const { raw } = reply;
      raw.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        'Content-Type': 'application/x-ndjson; charset=utf-8',
      });
      raw.flushHeaders();
      const write = (text: string) => writeAll(raw, text, writeTimeoutMs);
      const last = await run(request, action, { userBulk, write, stop: closing.signal });
      if (last !== undefined) await write(toLine(last));
      raw.end();
    },
  });
}

interface Run {
  readonly userBulk: UserBulk;
  /** @returns whether the client still reads */
  write(text: string): Promise<boolean>;
  readonly stop: AbortSignal;
}

/** @returns the last line; undefined if the client is gone, after which no further user is changed */
async function run(
  request: FastifyRequest,
  action: BulkAction,
  { userBulk, write, stop }: Run,
): Promise<BulkLine | undefined> {
  const language = preferredLanguage(request.headers['accept-language']);
  const counts = { done: 0, unchanged: 0, failed: 0, valid: 0 };
  const caller = {
    origin: originOf(request),
    requireRightToChange: (user: { readonly role: string }) => requireRightToChange(callerOf(request), user),
    async recheck() {
      if (stop.aborted) throw new Problem('shutting_down');
      // The key may have been revoked, and the proof may have become too old.
      await request.authorized.recheck?.();
    },
  };
  try {
    for await (const outcomes of userBulk.run(action, caller)) {
      const lines = outcomes.map((outcome) => lineOf(outcome, language));
      for (const { result } of lines) counts[result] += 1;
      if (!(await write(lines.map(toLine).join('')))) return undefined;
    }
    return { summary: { ...counts, complete: true } };
  } catch (error) {
    const problem = asProblem(error as Error);
    const { status } = errors[problem.code];
    if (status >= 500) {
      request.log.warn({ err: problem.options.cause ?? problem, request_id: request.id }, 'a bulk action ended early');
    }
    return { summary: { ...counts, complete: false }, status, code: problem.code };
  }
}

function lineOf({ id, result, ...more }: BulkOutcome, language: Language) {
  if (!(result instanceof Problem)) return { id, result, ...more };
  return { id, result: 'failed' as const, errors: problemBody(result, '', language).errors };
}
