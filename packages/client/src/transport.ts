import { ForeignAnswerError, NetworkError, problemFrom, UsageError } from './errors.js';
import { type Abortable, type Fetch, partsOf, platform, throwIfAborted } from './platform.js';

/** A request to Postern. */
export interface Call extends Abortable {
  /** GET by default. */
  readonly method?: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the URL of Postern, such as `/v1/devices`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** JSON, a form, or a text whose type is in `headers`. */
  readonly body?: object | string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** The value of `Authorization`. */
  readonly authorization?: string | undefined;
  /** Gets the headers of each answer, also of a problem. */
  readonly onHeaders?: (headers: Headers) => void;
  /** The answer has no end, so only its start has a time limit. */
  readonly streams?: boolean;
}

/** Sends requests and classifies their answers. */
export interface Transport {
  /** @returns the body of a successful answer @throws ProblemError, NetworkError, ForeignAnswerError, the signal's reason */
  json<T>(call: Call): Promise<T>;
  /** @returns a successful answer, whatever its body is. Throws as `json`. */
  raw(call: Call): Promise<Response>;
}

export interface TransportOptions {
  readonly base: string;
  readonly fetch: Fetch | undefined;
  readonly locale: string | undefined;
  /** The time limit of each attempt in milliseconds. */
  readonly timeout: number;
  /** Whether the browser may send cookies: to your own backend only. */
  readonly cookies: boolean;
}

export function createTransport({ base, fetch, locale, timeout, cookies }: TransportOptions): Transport {
  async function raw(call: Call): Promise<Response> {
    const { method = 'GET', path, query = {}, body, signal, authorization } = call;
    const parameters = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
    );
    const language = locale ?? platform().navigator?.language;
    const isJson = typeof body === 'object' && !(body instanceof FormData);
    const headers = {
      accept: 'application/json',
      ...call.headers,
      ...(language && { 'accept-language': language }),
      ...(authorization && { authorization }),
      ...(isJson && { 'content-type': 'application/json' }),
    };
    const url = base + path + (parameters.length > 0 ? `?${parameters.join('&')}` : '');
    const answer = await withTimeout(signal, timeout, call.streams === true, (combinedSignal) =>
      (fetch ?? globalThis.fetch)(url, {
        ...{
          method,
          headers,
          signal: combinedSignal,
          // Not `error`, which workers of Cloudflare refuse.
          redirect: 'manual',
          credentials: cookies ? 'same-origin' : 'omit',
        },
        ...(body !== undefined && { body: isJson ? JSON.stringify(body) : body }),
      }),
    );
    call.onHeaders?.(answer.headers);
    if (answer.ok) return answer;
    throw (await problemFrom(answer)) ?? new ForeignAnswerError(answer.status);
  }

  return {
    raw,
    async json<T>(call: Call): Promise<T> {
      const answer = await raw(call);
      if (answer.status === 204) return undefined as T;
      // A captive portal answers 200 with a page.
      if (!/\bjson\b/.test(answer.headers.get('content-type') ?? '')) throw new ForeignAnswerError(answer.status);
      try {
        return (await answer.json()) as T;
      } catch (error) {
        throwIfAborted(call.signal);
        throw new NetworkError(false, error);
      }
    },
  };
}

/** Loads a part of a package that few pages need at their start. It fails as a request does: the network may be lost. */
export async function loadPart<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    throw new NetworkError(false, error);
  }
}

/** Runs a request with a time limit of its own beside the caller's signal. */
async function withTimeout(
  signal: AbortSignal | undefined,
  milliseconds: number,
  streams: boolean,
  request: (signal: AbortSignal) => Promise<Response>,
): Promise<Response> {
  throwIfAborted(signal);
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', abort);
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    controller.abort();
  }, milliseconds);
  const end = () => {
    clearTimeout(timer);
    if (!streams) signal?.removeEventListener('abort', abort);
  };
  try {
    return await request(controller.signal);
  } catch (error) {
    throwIfAborted(signal);
    throw new NetworkError(timedOut, error);
  } finally {
    end();
  }
}

/** The base of all URLs, without a slash at its end. @throws UsageError that names the function `caller` */
export function baseOf(url: string | URL | undefined, caller = 'createPostern'): string {
  let parts: RegExpExecArray | null = null;
  try {
    parts = partsOf(url as string | URL, platform().location?.href);
  } catch {}
  if (!parts || parts[2]) {
    throw new UsageError(
      `${caller} needs \`url\`: http or https, without user, query and fragment. A path works in pages only.`,
    );
  }
  return parts[0].replace(/\/+$/, '');
}
