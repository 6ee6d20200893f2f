import type { buildConnector, Dispatcher } from 'undici';

/**
 * Reports connections that are reset. undici completes an answer without a length at a reset too, although anything may be
 * missing then. Node.js reports a reset that arrives together with data as an orderly end. The socket differs: after a
 * reset it has no peer (decision 73).
 *
 * @param onReset is called with the origin, before undici completes the answer
 */
export function watchingResets(
  connect: buildConnector.connector,
  onReset: (origin: string) => void,
): buildConnector.connector {
  return (options, callback) => {
    connect(options, (...result) => {
      const [, socket] = result;
      const reset = () => onReset(`${options.protocol}//${options.host}`);
      // Both before undici's listeners, which it adds in the callback.
      socket?.on('end', () => {
        if (socket.remoteAddress === undefined) reset();
      });
      socket?.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ECONNRESET') reset();
      });
      callback(...result);
    });
  };
}

/** Whether nothing but the end of the connection ends the body (RFC 9112, 6.3). */
export function endsWithConnection({ statusCode, headers }: Dispatcher.ResponseData): boolean {
  const encodings = String(headers['transfer-encoding'] ?? '').toLowerCase();
  const isFramed = headers['content-length'] !== undefined || /(?:^|,)\s*chunked\s*$/.test(encodings);
  return !isFramed && statusCode !== 204 && statusCode !== 304;
}
