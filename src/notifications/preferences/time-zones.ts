import type { Queryable } from '../../database/database.js';
import { sql, statement, unprepared } from '../../database/sql.js';

/** The names of time zones of the database. They decide, because it computes the times. */
export interface TimeZones {
  /** @param handle the transaction of the caller, if there is one */
  names(handle: Queryable): Promise<ReadonlySet<string>>;
}

const selectNames = unprepared(
  statement<object, { name: string }>('time_zones', () => sql`select name from pg_timezone_names`),
);

/** Reads the names when they are first needed: PostgreSQL opens hundreds of files for them. They stay until the process ends. */
export function createTimeZones(): TimeZones {
  let known: ReadonlySet<string> | undefined;
  return {
    async names(handle) {
      known ??= new Set((await handle.query(selectNames({}))).map(({ name }) => name));
      return known;
    },
  };
}

export const noZones: ReadonlySet<string> = new Set();
