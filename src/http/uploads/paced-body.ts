import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { createBytePace } from '../../lib/byte-pace.js';
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
  async function* read(requester: string, payload: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of payload) {
      const turn = pace(requester, chunk.length);
      if (turn !== undefined) await turn;
      yield chunk;
    }
  }
  return (request, payload) => Readable.from(read(requesterOf(request), payload), { objectMode: false });
}
