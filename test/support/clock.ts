import type { Database } from '../../src/database/database.js';
import { testSql } from './sql.js';

/**
 * Steps the clock of a database: from now on `db_now()` is the real time plus an interval.
 * @param interval such as `-1 day`; `0` resets the clock
 */
export async function stepClock(database: Database, interval: string): Promise<void> {
  if (!/^-?[\w ]+$/.test(interval)) throw new Error(`"${interval}" is not an interval`);
  await database.query(
    testSql(`create or replace function db_now() returns timestamptz language sql volatile
         as $$ select clock_timestamp() + interval '${interval}' $$`),
  );
}

/** The clock of a database shows this time, in milliseconds of Unix time, and stands still. `stepClock` ends it. */
export async function holdClock(database: Database, time: number): Promise<void> {
  await database.query(
    testSql(
      `create or replace function db_now() returns timestamptz language sql volatile as $$ select to_timestamp(${time / 1000}) $$`,
    ),
  );
}
