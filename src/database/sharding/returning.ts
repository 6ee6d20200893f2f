import { setTimeout as wait } from 'node:timers/promises';
import { Problem } from '../../lib/problem.js';
import { type MigrationLog, migrate } from '../migrate.js';
import type { ShardTarget } from '../open.js';
import type { Server } from '../server.js';
import { registerReturned } from './register.js';

/** Milliseconds between two attempts. */
const retryPauseMs = 1000;

/** A server that is not used until it is checked: its schema may be that of a former version. */
export interface ClosedServer {
  readonly server: Server;
  open(): void;
}

/** Refuses all statements of a server, as if it did not answer, until `open` is called. */
export function closeServer(server: Server): ClosedServer {
  let isOpen = false;
  const refuseClosed = () => {
    if (isOpen) return;
    const cause = new Error('the server did not answer when this process started, and is not checked yet');
    throw new Problem('storage_unavailable', { cause, retryAfter: 1 });
  };
  return {
    server: {
      ...server,
      async query(statement, deadline, isHere) {
        refuseClosed();
        return server.query(statement, deadline, isHere);
      },
      async begin(deadline, isHere) {
        refuseClosed();
        return server.begin(deadline, isHere);
      },
    },
    open() {
      isOpen = true;
    },
  };
}

export interface ReturnLog extends MigrationLog {
  info(fields: object, message: string): void;
}

/**
 * Migrates and checks a server as soon as it answers, and then opens it.
 * @returns a function that stops the attempts
 */
export function openWhenBack(
  main: ShardTarget,
  shard: ShardTarget,
  closed: ClosedServer,
  log: ReturnLog,
): () => Promise<void> {
  const stopping = new AbortController();
  const running = (async () => {
    let lastReason: string | undefined;
    while (!stopping.signal.aborted) {
      try {
        await migrate(shard.target, log);
        await registerReturned(main, shard);
        closed.open();
        log.info({ server: shard.name }, 'a database server is back');
        return;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (reason !== lastReason) {
          log.warn({ err: error, server: shard.name }, 'a database server cannot be used, and its users wait for it');
        }
        lastReason = reason;
      }
      await wait(retryPauseMs, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
    }
  })();
  return async () => {
    stopping.abort();
    await running;
  };
}
