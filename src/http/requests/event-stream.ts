import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { clientAddress } from './route.js';

/** The time without data, in milliseconds, after which the kernel sends TCP keep-alive probes. */
const keepAliveMs = 30_000;

/**
 * Starts the answer of a stream of server-sent events. The stream ends when the connection ends. If the client's
 * address is blocked, the connection ends.
 */
export function connectEventStream(reply: FastifyReply): ServerResponse {
  reply.hijack();
  const { raw } = reply;
  // No chunked encoding: WHATWG HTML, 9.2.7, warns of it. Without it, each event needs only one write, which costs a
  // third less. The end of the connection marks the end of the stream (RFC 9112, 6.3).
  raw.useChunkedEncodingByDefault = false;
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    // Proxies must neither transform nor buffer the stream; nginx reads x-accel-buffering.
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  });
  const { request, server } = reply;
  raw.once(
    'close',
    server.whenBlocked(clientAddress(request), () => raw.destroy()),
  );
  raw.socket?.setNoDelay(true).setKeepAlive(true, keepAliveMs).setTimeout(0);
  return raw;
}

/** Adds a request header to `Vary`. */
export function addVary(reply: FastifyReply, header: string): void {
  const others = reply.getHeader('vary');
  reply.header('Vary', others === undefined ? header : `${String(others)}, ${header}`);
}
