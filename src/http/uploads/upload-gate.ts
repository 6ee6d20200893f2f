import type { FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../lib/problem.js';
import { requesterOf } from '../requests/route.js';

/**
 * The maximum numbers of concurrent uploads. Each keeps a whole file of up to 5 MiB in memory. API
 * keys have their own limit, so that slow uploads by users do not block the app's own servers.
 */
const limits = { users: 48, ofOneUser: 4, keys: 16 };

/** Limits the number of concurrent uploads before their bodies are read. */
export interface UploadGate {
  /** A hook for authorized requests. @throws Problem `too_many_requests`, `overloaded` */
  enter(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Runs the work of an admitted request. The upload counts as running until the work ends, even if the client disconnects. */
  during<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T>;
}

/** Creates a gate for all routes that take uploads. */
export function createUploadGate(): UploadGate {
  const byUser = new Map<string, number>();
  const running = { users: 0, keys: 0 };
  const works = new WeakMap<FastifyRequest, Promise<unknown>>();
  const disconnected = new WeakSet<FastifyRequest>();
  return {
    async enter(request, reply) {
      const requester = requesterOf(request);
      const uploadsOfUser = byUser.get(requester) ?? 0;
      // All API keys share one limit.
      const kind = request.authorized.session === undefined ? 'keys' : 'users';
      if (kind === 'users' && uploadsOfUser >= limits.ofOneUser)
        throw new Problem('too_many_requests', { retryAfter: 1 });
      if (running[kind] >= limits[kind]) throw new Problem('overloaded', { retryAfter: 1 });
      running[kind] += 1;
      byUser.set(requester, uploadsOfUser + 1);
      const leave = () => {
        running[kind] -= 1;
        const left = (byUser.get(requester) ?? 1) - 1;
        if (left === 0) byUser.delete(requester);
        else byUser.set(requester, left);
      };
      // The response also closes when the client disconnects. Work that has started still counts.
      reply.raw.once('close', () => {
        disconnected.add(request);
        void Promise.resolve(works.get(request)).then(leave, leave);
      });
    },
    async during(request, work) {
      // The client has disconnected, so the upload no longer counts as running.
      if (disconnected.has(request)) throw new Problem('malformed_request');
      const started = work();
      works.set(request, started);
      return started;
    },
  };
}
