import { ForeignAnswerError, isPosternError, NetworkError, problemFrom, UsageError } from './errors.js';
import { type Abortable, type Fetch, forCaller, onAbort, partsOf, platform, throwIfAborted } from './platform.js';

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
  /** A member that the answer of Postern always has. An answer without it is from somebody else, such as a captive portal. */
  readonly expects?: string;
  /** Gets the headers of each answer, also of a problem. */
  readonly onHeaders?: (headers: Headers) => void;
  /** The request needs the session of the same login as the first request with this owner. */
  readonly owner?: Owner | undefined;
}

/** The user of a group of requests. The first request sets it. Requests with the session of another user reject. */
export interface Owner {
  id?: string | undefined;
}

/** Sends requests and classifies their answers. */
export interface Transport {
  /**
   * @returns the body of a successful answer
   * @throws ProblemError, NetworkError, ForeignAnswerError, the signal's reason
   */
  json<T>(call: Call): Promise<T>;
  /** @returns a successful answer, whose body may have no end: only its start has a time limit. Throws as `json`. */
  raw(call: Call): Promise<Response>;
}

export interface TransportOptions {
  readonly base: string;
  readonly fetch: Fetch | undefined;
  readonly locale: string | undefined;
  /** The time limit of each attempt in milliseconds, with its body. */
  readonly timeout: number;
  /** Whether the browser may send cookies: to your own backend only. */
  readonly cookies: boolean;
}

export function createTransport({ base, fetch, locale, timeout, cookies }: TransportOptions): Transport {
  /** @param hasEndlessBody the time limit covers only the start of the answer */
  async function send<T>(call: Call, hasEndlessBody: boolean, read: (answer: Response) => Promise<T>): Promise<T> {
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
    return withTimeout(signal, timeout, hasEndlessBody, async (combinedSignal) => {
      const answer = await (fetch ?? globalThis.fetch)(url, {
        ...{
          method,
          headers,
          signal: combinedSignal,
          // Not `error`, which workers of Cloudflare refuse.
          redirect: 'manual',
          credentials: cookies ? 'same-origin' : 'omit',
        },
        ...(body !== undefined && { body: isJson ? JSON.stringify(body) : body }),
      });
      call.onHeaders?.(answer.headers);
      if (!answer.ok) throw (await problemFrom(answer)) ?? new ForeignAnswerError(answer.status);
      return read(answer);
    });
  }

  return {
    raw: (call) => send(call, true, async (answer) => answer),
    json: <T>(call: Call) =>
      send(call, false, async (answer) => {
        const { expects } = call;
        if (answer.status === 204 && !expects) return undefined as T;
        // A captive portal answers 200 with a page, or with JSON of its own.
        const isJson = /\bjson\b/.test(answer.headers.get('content-type') ?? '');
        const body = isJson && ((await answer.json()) as Record<string, unknown> | null);
        if (!body || (expects && body[expects] === undefined)) throw new ForeignAnswerError(answer.status);
        return body as T;
      }),
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

/**
 * Runs a request with a time limit of its own beside the caller's signal, even if the `fetch` of the app ignores signals.
 * @param hasEndlessBody the caller's signal still ends the body after this has returned
 */
async function withTimeout<T>(
  signal: AbortSignal | undefined,
  milliseconds: number,
  hasEndlessBody: boolean,
  request: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  throwIfAborted(signal);
  const controller = new AbortController();
  const unlink = onAbort(signal, () => controller.abort(signal?.reason));
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    controller.abort();
  }, milliseconds);
  let isRunning = false;
  try {
    const answer = await forCaller(request(controller.signal), controller.signal);
    isRunning = hasEndlessBody;
    return answer;
  } catch (error) {
    throwIfAborted(signal);
    throw isPosternError(error) ? error : new NetworkError(timedOut, error);
  } finally {
    clearTimeout(timer);
    if (!isRunning) unlink();
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
      `${caller} needs \`url\`: http or https without user, query and fragment, or a path in pages only.`,
    );
  }
  return parts[0].replace(/\/+$/, '');
}
