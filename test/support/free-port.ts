import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * A port for a program that cannot choose one. The system gives ports from 32768 to sockets without a port, so no
 * connection of another test takes this one before the program listens.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_768);
    const probe = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false));
      probe.listen(port, () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => probe.close(resolve));
    return port;
  }
}
