import type { Statement } from '../../src/database/sql.js';

/**
 * A statement of a test: text with `$1`, `$2`, … and their values.
 * @param name prepares the statement under this name
 */
export function testSql<Row extends object>(
  text: string,
  values: readonly unknown[] = [],
  name?: string,
): Statement<Row> {
  return { text, values: [...values], ...(name !== undefined && { name }) };
}
