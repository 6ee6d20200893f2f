import { isStorageFailure } from '../../database/database.js';

/** Writes a line of the log. */
export type WriteLine = (level: 'info' | 'warn', fields: object, message: string) => void;

/** Decides which lines about a database that fails are written. */
export interface Repeats {
  /** @returns the fields to write; undefined: this line is only counted */
  check(fields: object, message: string): object | undefined;
}

/** Milliseconds. `request`: between two lines about requests. `report`: between two counts. `quiet`: without a failure, an outage is over. */
const times = { request: 1000, report: 60_000, quiet: 10_000 };

interface Outage {
  readonly since: number;
  readonly messages: Set<string>;
  failures: number;
  lastAt: number;
}

/**
 * While the database is away, each part of the service fails again and again, and each request fails. So each message is
 * written once in an outage, and repeated ones are counted: the count is written once a minute and at the end. A line about
 * a request is written at most once a second, with the number of lines that were left out.
 *
 * A line belongs to an outage if its error is a failure of the database, or if it has the field `outage`.
 */
export function createRepeats(write: WriteLine): Repeats {
  let outage: Outage | undefined;
  let lastRequestAt = Number.NEGATIVE_INFINITY;
  let skippedRequests = 0;

  function checkRequest(fields: object): object | undefined {
    const now = performance.now();
    if (now - lastRequestAt < times.request) {
      skippedRequests += 1;
      return undefined;
    }
    const similar = skippedRequests;
    lastRequestAt = now;
    skippedRequests = 0;
    return similar === 0 ? fields : { ...fields, similar_requests: similar };
  }

  function checkOutage(fields: object, message: string): object | undefined {
    const now = performance.now();
    outage ??= begin(now);
    outage.failures += 1;
    outage.lastAt = now;
    // Messages of libraries have figures, such as the time until the next attempt.
    const kind = message.replaceAll(/\d+/g, '#');
    if (outage.messages.has(kind)) return undefined;
    outage.messages.add(kind);
    return fields;
  }

  function begin(now: number): Outage {
    const begun: Outage = { since: now, messages: new Set(), failures: 0, lastAt: now };
    const report = setInterval(() => {
      const seconds = Math.round((performance.now() - begun.since) / 1000);
      write(
        'warn',
        { failures: begun.failures },
        `the database is still away after ${seconds} s, ${begun.failures} attempts failed`,
      );
    }, times.report).unref();
    const end = () => {
      const remaining = begun.lastAt + times.quiet - performance.now();
      if (remaining > 0) return void setTimeout(end, remaining).unref();
      clearInterval(report);
      outage = undefined;
      const { failures } = begun;
      // A single failure, such as one connection that an operator ended, is no outage.
      if (failures <= begun.messages.size) return;
      const seconds = Math.round((begun.lastAt - begun.since) / 1000);
      write('info', { failures }, `the database answers again: ${failures} attempts failed in ${seconds} s`);
    };
    setTimeout(end, times.quiet).unref();
    return begun;
  }

  return {
    check(fields, message) {
      const { err, outage: isOutage, code, request_id: requestId } = fields as LineFields;
      if (requestId !== undefined) return code === 'storage_unavailable' ? checkRequest(fields) : fields;
      return isOutage === 'database' || isStorageFailure(err) ? checkOutage(fields, message) : fields;
    },
  };
}

interface LineFields {
  readonly err?: unknown;
  readonly outage?: unknown;
  readonly code?: unknown;
  readonly request_id?: unknown;
}
