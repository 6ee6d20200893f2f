import type { buildConnector, Dispatcher } from 'undici';

/**
 * Reports connections that are reset. undici treats a response without a length as complete when its connection is
 * reset, although data may be missing. Node.js reports a reset that arrives together with data as a normal end. But
 * after a reset, the socket has no peer address (decision 18).
 *
 * @param onReset called with the origin, before undici completes the response
 */
export function reportResets(
  connect: buildConnector.connector,
  onReset: (origin: string) => void,
): buildConnector.connector {
  return (options, callback) => {
    connect(options, (...result) => {
      const [, socket] = result;
      const reset = () => onReset(`${options.protocol}//${options.host}`);
      // undici adds its listeners in the callback, so these run first.
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

/** Whether only the end of the connection ends the body (RFC 9112, 6.3). */
export function endsWithConnection({ statusCode, headers }: Dispatcher.ResponseData): boolean {
  const encodings = String(headers['transfer-encoding'] ?? '').toLowerCase();
  const isFramed = headers['content-length'] !== undefined || /(?:^|,)\s*chunked\s*$/.test(encodings);
  return !isFramed && statusCode !== 204 && statusCode !== 304;
}
