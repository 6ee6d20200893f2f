import type { FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../lib/problem.js';
import { requesterOf } from './route.js';

/** Uploads under way at a time: each holds a whole file in memory, up to 25 MB while base64 is read. */
const limits = { total: 16, ofOneUser: 4 };

/**
 * Lets a bounded number of uploads in, before their bodies are read, and until they are answered.
 * @returns a hook for requests that were authorized; it throws Problem `too_many_requests` or `overloaded`
 */
export function createUploadGate(): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const underWay = new Map<string, number>();
  let total = 0;
  return async (request, reply) => {
    const who = requesterOf(request);
    const own = underWay.get(who) ?? 0;
    // The app's own servers are not held apart from each other.
    const isUser = request.authorized.session !== undefined;
    if (isUser && own >= limits.ofOneUser) throw new Problem('too_many_requests', { retryAfter: 1 });
    if (total >= limits.total) throw new Problem('overloaded', { retryAfter: 1 });
    total += 1;
    underWay.set(who, own + 1);
    // Also when the client has gone: there is a response to close either way.
    reply.raw.once('close', () => {
      total -= 1;
      const left = (underWay.get(who) ?? 1) - 1;
      if (left === 0) underWay.delete(who);
      else underWay.set(who, left);
    });
  };
}
