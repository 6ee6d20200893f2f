import { expect, test } from 'vitest';
import { causeOf } from '../../src/embedded/membership.js';

const reason = 'recovery ended before configured recovery target was reached';

test('the cause of a failed start is the reason of the server, and not a connection that was refused after it', () => {
  const log = [
    '2026-11-26 18:12:01 UTC [1] LOG:  starting PostgreSQL 18',
    `2026-11-26 18:12:02 UTC [2] FATAL:  ${reason}`,
    '2026-11-26 18:12:02 UTC [3] FATAL:  the database system is in recovery mode',
    '2026-11-26 18:12:02 UTC [1] LOG:  database system is shut down',
  ];
  expect(causeOf(log)).toBe(reason);
  expect(causeOf(log.filter((line) => !line.includes(reason)))).toBeUndefined();
});
