import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { createBytePace, waitForPace } from '../../lib/byte-pace.js';
import { requesterOf } from '../requests/route.js';

const megabyte = 1024 * 1024;

/**
 * A body costs a few milliseconds and much garbage for each megabyte. So a user who sends large files without end gets this
 * rate. A photo of 1.5 MB never waits, the largest file waits about a second.
 */
const rateOfUser = { rate: 4 * megabyte, burst: 2 * megabyte };

/** Creates the streams from which routes read large bodies. All bodies of a user share a rate. */
export function createPacedBodies(): (request: FastifyRequest, payload: AsyncIterable<Buffer>) => Readable {
  const pace = createBytePace(rateOfUser);
  async function* read(requester: string, payload: AsyncIterable<Buffer>, closed: AbortSignal): AsyncGenerator<Buffer> {
    for await (const chunk of payload) {
      const ms = pace(requester, chunk.length);
      if (ms > 0) await waitForPace(ms, closed);
      yield chunk;
    }
  }
  return (request, payload) => {
    const closing = new AbortController();
    const { raw } = request;
    raw.once('close', () => raw.complete || closing.abort());
    const body = Readable.from(read(requesterOf(request), payload, closing.signal), { objectMode: false });
    // Fastify stops to listen when a body is too large, and the stream fails after that, with its connection.
    body.on('error', () => undefined);
    return body;
  };
}
