/** Reads one header. */
type ReadHeader = (name: string) => string | undefined;

/** The headers of any framework. */
export type HeadersLike =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * A request of any framework: a `Request`, one of Node.js, Express, Fastify or Hono (`context.req`), or only its headers.
 */
export type RequestLike = { readonly headers: HeadersLike } | { readonly raw: { readonly headers: HeadersLike } };

/** Reads the headers of a request. The names are in lower case. */
export function headersOf(request: RequestLike): ReadHeader {
  const headers = 'headers' in request ? request.headers : request.raw.headers;
  if (typeof headers.get === 'function') {
    const { get } = headers;
    return (name) => get.call(headers, name) ?? undefined;
  }
  const values = headers as Readonly<Record<string, string | readonly string[] | undefined>>;
  return (name) => {
    const value = values[name];
    // Node.js returns an array for repeated headers. The joined text is not a valid credential.
    return typeof value === 'string' || value === undefined ? value : value.join(', ');
  };
}

/**
 * The session token in `Authorization: Bearer`. Undefined if there is none. Other tokens, which a client may send by mistake, never
 * leave the backend.
 */
export function sessionTokenOf(request: RequestLike | string): string | undefined {
  if (typeof request === 'string') return isSessionToken(request) ? request : undefined;
  const header = headersOf(request)('authorization');
  if (header === undefined || header.length < 8 || header.slice(0, 7).toLowerCase() !== 'bearer ') return undefined;
  const token = header.slice(7).trim();
  return isSessionToken(token) ? token : undefined;
}

const isSessionToken = (text: string) => /^pss_[A-Za-z0-9_-]{1,200}$/.test(text);
