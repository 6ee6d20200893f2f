import { inSpan, type Tracing } from '../lib/tracing.js';

/** An outgoing call. Only the host of its URL is recorded: paths and queries may contain secrets. */
export interface TracedCall {
  readonly url: string;
  readonly method: string;
}

/**
 * Makes an outgoing call as a span of the current request or job, and passes on its trace.
 * @param tracing undefined: the call is made without headers
 * @param call makes the call with these additional headers
 */
export async function traceCall<Answer extends { readonly status: number }>(
  tracing: Tracing | undefined,
  { url, method }: TracedCall,
  call: (headers: Readonly<Record<string, string>>) => Promise<Answer>,
): Promise<Answer> {
  if (tracing === undefined) return call({});
  const { hostname, port, protocol } = new URL(url);
  const span = tracing.startChild(method, 'client', {
    'http.request.method': method,
    'server.address': hostname,
    'server.port': port === '' ? defaultPort(protocol) : Number(port),
  });
  return inSpan(tracing, span, async () => {
    const answer = await call(tracing.headers());
    span?.set({ 'http.response.status_code': answer.status });
    if (answer.status >= 400) span?.fail(String(answer.status));
    return answer;
  });
}

const defaultPort = (protocol: string) => (protocol === 'http:' ? 80 : 443);
