import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { Problem } from '../../lib/problem.js';
import type { App } from '../requests/route.js';

const mediaType = 'application/x-ndjson';

/**
 * Accepts NDJSON bodies on routes with `config.ndjson`: the handler gets the stream itself. Other routes answer 415.
 * @param withoutReceiveTimeout the sockets of requests that may take any time to arrive
 */
export function ndjsonBodyPlugin(app: App, withoutReceiveTimeout: WeakSet<Socket>): void {
  app.addContentTypeParser(mediaType, (request, payload, done) => {
    const isAccepted =
      request.routeOptions.config.ndjson !== undefined && isPlainNdjsonType(request.headers['content-type']);
    done(isAccepted ? null : new Problem('unsupported_media_type'), payload);
  });
  app.decorateRequest('removeReceiveTimeout', function removeReceiveTimeout(this: FastifyRequest) {
    const { socket } = this.raw;
    withoutReceiveTimeout.add(socket);
    this.raw.once('close', () => withoutReceiveTimeout.delete(socket));
  });
}

/** Whether the body of a request is NDJSON. */
export function isNdjson(request: FastifyRequest): boolean {
  return isPlainNdjsonType(request.headers['content-type']);
}

/** The pattern takes linear time: no two parts of it can match the same spaces. */
function isPlainNdjsonType(contentType = ''): boolean {
  return /^application\/x-ndjson\s*(?:;\s*(?:charset="?utf-8"?\s*(?:;\s*)?)?)?$/i.test(contentType);
}
