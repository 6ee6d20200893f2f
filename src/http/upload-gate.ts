import type { FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../lib/problem.js';
import { requesterOf } from './route.js';

/**
 * Uploads under way at a time: each holds a whole file in memory, up to 25 MB while base64 is read. Users who send slowly
 * must not keep the app's own servers out, so these have room of their own.
 */
const limits = { users: 48, ofOneUser: 4, keys: 16 };

/** Lets a bounded number of uploads in, before their bodies are read. */
export interface UploadGate {
  /** A hook for requests that were authorized. @throws Problem `too_many_requests`, `overloaded` */
  enter(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Work for a request that was let in: its place is taken until this has settled, also when the client has gone. */
  during<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T>;
}

export function createUploadGate(): UploadGate {
  const byUser = new Map<string, number>();
  const taken = { users: 0, keys: 0 };
  const works = new WeakMap<FastifyRequest, Promise<unknown>>();
  const gone = new WeakSet<FastifyRequest>();
  return {
    async enter(request, reply) {
      const who = requesterOf(request);
      const own = byUser.get(who) ?? 0;
      // The app's own servers are not held apart from each other.
      const kind = request.authorized.session === undefined ? 'keys' : 'users';
      if (kind === 'users' && own >= limits.ofOneUser) throw new Problem('too_many_requests', { retryAfter: 1 });
      if (taken[kind] >= limits[kind]) throw new Problem('overloaded', { retryAfter: 1 });
      taken[kind] += 1;
      byUser.set(who, own + 1);
      const leave = () => {
        taken[kind] -= 1;
        const left = (byUser.get(who) ?? 1) - 1;
        if (left === 0) byUser.delete(who);
        else byUser.set(who, left);
      };
      // Also when the client has gone: there is a response to close either way. But what it began goes on.
      reply.raw.once('close', () => {
        gone.add(request);
        void Promise.resolve(works.get(request)).then(leave, leave);
      });
    },
    async during(request, work) {
      // Nobody waits for it any more, and its place may be taken.
      if (gone.has(request)) throw new Problem('malformed_request');
      const running = work();
      works.set(request, running);
      return running;
    },
  };
}
