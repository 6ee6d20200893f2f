/**
 * The attributes of a span. The values are fixed words, numbers, names of statements, templates of routes and names of hosts: never a
 * token, a code, an address of a person, or a part of a body.
 */
export type SpanAttributes = Readonly<Record<string, string | number>>;

/** One timed operation of a trace. */
export interface Span {
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** Marks the operation as failed. @param type a stable word or a status */
  fail(type: string): void;
  end(): void;
}

/** The headers of a request in the format W3C Trace Context. */
export interface TraceHeaders {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

/** Records what the service does, as spans. It exists only if tracing is configured. */
export interface Tracing {
  /** Starts the span of a request. It continues the trace of the client. */
  startRequest(method: string, headers: TraceHeaders): Span;
  /**
   * Starts the span of work that runs later than the request that caused it. It begins a trace of its own, with a link.
   * @param cause what `cause()` returned in the request
   */
  startJob(name: string, cause: string | null | undefined, attributes: SpanAttributes): Span;
  /** Starts a span in the current one. Undefined if there is none, or it is not recorded. */
  startChild(name: string, kind: 'client' | 'internal', attributes: SpanAttributes): Span | undefined;
  /** Runs `work` as a part of the span: the spans that it starts become children. */
  runIn<T>(span: Span, work: () => T): T;
  /** The current request or job as a `traceparent`, for later work. Undefined if there is none, or it is not recorded. */
  cause(): string | undefined;
  /** The headers of an outgoing request, by lower-case name. */
  headers(): Readonly<Record<string, string>>;
}

/** Runs `work` within the span, and ends the span with it. A span that was not started changes nothing. */
export async function inSpan<T>(tracing: Tracing, span: Span | undefined, work: () => Promise<T>): Promise<T> {
  if (span === undefined) return work();
  try {
    return await tracing.runIn(span, work);
  } catch (error) {
    span.fail(errorType(error));
    throw error;
  } finally {
    span.end();
  }
}

/** The code of an error, or else its class. Its message may hold values. */
export function errorType(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && /^\w{1,64}$/.test(code) ? code : error.name;
}
