import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Database, Transaction } from '../../database/database.js';
import type { Idempotency } from '../../database/idempotency.js';
import { requesterOf } from './route.js';

const json = 'application/json; charset=utf-8';

/** The response of an idempotent request. */
export interface IdempotentResponse {
  readonly status: number;
  /** A value that matches the route's schema, or a Buffer with its JSON. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Calls `commit` once with the work of the transaction. Does slow work, such as hashing, before that. */
export type IdempotentWork = (
  commit: (work: (tx: Transaction) => Promise<IdempotentResponse>) => Promise<IdempotentResponse>,
) => Promise<IdempotentResponse>;

/**
 * Answers a request that is not safe to repeat: runs `work` in a transaction, and only once for each Idempotency-Key.
 * `headersPlugin` has validated the header.
 */
export type Idempotent = (
  request: FastifyRequest,
  reply: FastifyReply,
  work: IdempotentWork,
  /** The user whose rows the work may wait for, if there is exactly one. */
  userId?: string,
  /** The content by which a repeated request is recognised, if the body is not small JSON. */
  content?: unknown,
) => Promise<FastifyReply>;

/** @param idempotency stores the responses of requests that have an Idempotency-Key */
export function createIdempotent(database: Database, idempotency: Idempotency): Idempotent {
  return async (request, reply, work, userId, content = request.body) => {
    const handle = userId === undefined ? database : database.user(userId);
    const key = request.headers['idempotency-key'];
    if (typeof key !== 'string') {
      const { status, body, headers } = await work((inTransaction) => handle.transaction(inTransaction));
      reply.code(status).headers({ ...headers });
      return Buffer.isBuffer(body) ? reply.type(json).send(body) : reply.send(body);
    }
    const { answer, replayed } = await idempotency.run(
      {
        caller: requesterOf(request),
        key,
        request: JSON.stringify([request.method, request.url, content ?? null]),
      },
      async (commit) => {
        let stored = { status: 0, headers: {}, body: '' };
        await work(async (inTransaction) => {
          let response: IdempotentResponse | undefined;
          stored = await commit(async (tx) => {
            response = await inTransaction(tx);
            const isJson = Buffer.isBuffer(response.body);
            const body = String(isJson ? response.body : reply.code(response.status).serialize(response.body));
            return { status: response.status, headers: { ...response.headers }, body };
          });
          return response ?? { status: stored.status, body: stored.body };
        });
        return stored;
      },
      handle,
    );
    if (replayed) reply.header('Idempotent-Replayed', 'true');
    return reply
      .code(answer.status)
      .headers({ ...answer.headers })
      .type(json)
      .send(answer.body);
  };
}
