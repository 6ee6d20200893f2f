import type { FastifyRequest } from 'fastify';
import { createBytePace, waitForPace } from '../../lib/byte-pace.js';
import { Problem } from '../../lib/problem.js';
import { requesterOf } from '../requests/route.js';

const megabyte = 1024 * 1024;

/**
 * A body costs a few milliseconds and much garbage for each megabyte. So a user who sends large files without end gets this
 * rate. A photo of 1.5 MB never waits, and four of the largest files at once take nine seconds, which is less than a request may take.
 */
const rateOfUser = { rate: 3 * megabyte, burst: 2 * megabyte };

/**
 * The body of a request in pieces, as they arrive.
 * @throws Problem `malformed_request` if the connection closes. It stays open for the response if the caller stops to read
 */
export async function* bodyOf({ raw }: FastifyRequest): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of raw.iterator({ destroyOnReturn: false })) yield chunk as Buffer;
  } catch (cause) {
    throw new Problem('malformed_request', { cause });
  }
}

/** Creates a reader of large bodies. All bodies of a user share a rate. */
export function createPacedBodies(): (request: FastifyRequest) => AsyncGenerator<Buffer> {
  const pace = createBytePace(rateOfUser);
  return async function* paced(request) {
    const closing = new AbortController();
    const { raw } = request;
    raw.once('close', () => raw.complete || closing.abort());
    for await (const chunk of bodyOf(request)) {
      const ms = pace(requesterOf(request), chunk.length);
      if (ms > 0) await waitForPace(ms, closing.signal);
      yield chunk;
    }
  };
}
