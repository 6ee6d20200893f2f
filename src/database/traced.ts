import type { Tracing } from '../lib/tracing.js';
import { errorType, inSpan } from '../lib/tracing.js';
import { type Statement, sql, statement } from './sql.js';

/**
 * Stores in the connection which request its next statements belong to. The columns `traceparent` have this setting as their
 * default, and jobs copy it, so the spans of later work are linked to the request (decision 34).
 */
const setCause = statement<{ cause: string }>(
  'trace_cause',
  (p) => sql`select set_config('postern.traceparent', ${p.cause}, false)`,
);

/** SQL: the request that the statement belongs to, for the payload of a job; null if it is not traced. */
export const currentCause = sql`nullif(current_setting('postern.traceparent', true), '')`;

/** Whether a statement may write rows that cause later work. */
const mayWrite = /\b(?:insert|update|delete|add_jobs?)\b/i;

/** The request that was last set on each connection. */
export type Causes = WeakMap<object, string>;

/**
 * The statement to send before another one or a transaction. Undefined if the connection already has the right setting.
 * @param causes the function changes this map as if the returned statement had been sent
 * @param cause what `Tracing.cause` returned when the work began
 * @param statement undefined for a transaction
 */
export function causeStatement(
  causes: Causes,
  client: object,
  cause: string | undefined,
  statement: Statement | undefined,
): Statement | undefined {
  const newCause = cause ?? '';
  if ((causes.get(client) ?? '') === newCause) return undefined;
  if (statement !== undefined && !mayWrite.test(statement.text)) return undefined;
  causes.set(client, newCause);
  return setCause({ cause: newCause });
}

type Query = <Row extends object>(statement: Statement<Row>) => Promise<Row[]>;

/** The part of a handle that is traced. */
interface Traced {
  readonly query: Query;
  readonly transaction: <T>(
    work: (tx: { readonly query: Query; onCommit(listener: () => void): void }) => Promise<T>,
  ) => Promise<T>;
}

/** Records each statement and each transaction as a span in the span of its request or job. */
export function traceStatements(handle: Traced, tracing: Tracing): Traced {
  return {
    query: traceQueries(handle.query, tracing),
    transaction: (work) => {
      const span = tracing.startChild('transaction', 'client', systemAttributes);
      return inSpan(tracing, span, () =>
        handle.transaction((tx) => work({ ...tx, query: traceQueries(tx.query, tracing) })),
      );
    },
  };
}

const systemAttributes = { 'db.system.name': 'postgresql' };

/** The name of a statement says what it does. The span contains neither the text nor the values of the statement. */
function traceQueries(query: Query, tracing: Tracing): Query {
  return async (statement) => {
    const name = statement.name ?? 'composed';
    const span = tracing.startChild(name, 'client', { ...systemAttributes, 'db.query.summary': name });
    if (span === undefined) return query(statement);
    try {
      return await query(statement);
    } catch (error) {
      span.fail(errorType(error));
      throw error;
    } finally {
      span.end();
    }
  };
}
