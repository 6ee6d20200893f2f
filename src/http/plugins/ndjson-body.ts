import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { Problem } from '../../lib/problem.js';
import type { App } from '../route.js';

const mediaType = 'application/x-ndjson';

/**
 * Bodies of lines, for the routes whose `config.ndjson` says so; the handler gets the stream itself. 415 elsewhere.
 * @param unhurried sockets whose request may take longer than requests may
 */
export function ndjsonBodyPlugin(app: App, unhurried: WeakSet<Socket>): void {
  app.addContentTypeParser(mediaType, (request, payload, done) => {
    const accepted =
      request.routeOptions.config.ndjson !== undefined && isPlainNdjsonType(request.headers['content-type']);
    done(accepted ? null : new Problem('unsupported_media_type'), payload);
  });
  app.decorateRequest('unhurry', function unhurry(this: FastifyRequest) {
    const { socket } = this.raw;
    unhurried.add(socket);
    this.raw.once('close', () => unhurried.delete(socket));
  });
}

/** Whether a request that was let in brings lines. */
export function isNdjson(request: FastifyRequest): boolean {
  return isPlainNdjsonType(request.headers['content-type']);
}

/** Linear: no two parts of the pattern can share the same spaces. */
function isPlainNdjsonType(contentType = ''): boolean {
  return /^application\/x-ndjson\s*(?:;\s*(?:charset="?utf-8"?\s*(?:;\s*)?)?)?$/i.test(contentType);
}
