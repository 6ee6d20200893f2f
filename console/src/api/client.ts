import { createStore } from '../lib/store.js';
import { markStorage, trackedFetch } from './connection.js';
import { NotConfirmedError, problemOf } from './problem.js';
import type { NewSession } from './schema.js';
import { type ConsoleSession, createSession } from './session.js';

/** The request of an operation, as in its generated type. */
interface Operation {
  readonly url: string;
  readonly path?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
}

type Part<Name extends string, Value> = [Value] extends [undefined | never]
  ? { readonly [N in Name]?: undefined }
  : undefined extends Value
    ? { readonly [N in Name]?: Value }
    : { readonly [N in Name]: Value };

interface Options {
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** `operator`: the session of the console. `none`: the operation is public. Otherwise: the value of the header. */
  readonly authorization?: 'operator' | 'none' | `Basic ${string}` | `Bearer ${string}` | undefined;
}

export type RequestOptions<O extends Operation> = Part<'path', O['path']> &
  Part<'query', O['query']> &
  Part<'body', O['body']> &
  Options;

interface AnyRequest extends Options {
  readonly path?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The language of messages of the service. */
let language = 'en';
export function setLanguage(next: string): void {
  language = next;
}

/** The session of this tab. */
export const session: ConsoleSession = createSession({
  async open(authenticationToken) {
    const body = authenticationToken === undefined ? undefined : { authentication_token: authenticationToken };
    return requestConsole<NewSession>('POST', '/console/session', body);
  },
  close: () => requestConsole<void>('DELETE', '/console/session'),
});

/** Calls a route of the console itself, which the cookie authorizes. */
export async function requestConsole<Answer>(method: Method, url: string, body?: unknown): Promise<Answer> {
  return parseAnswer<Answer>(await throwUnlessOk(await trackedFetch(url, requestInit(method, { body }))));
}

/** A request that waits until the operator has re-authenticated, because the login is too old. */
export interface ConfirmationRequest {
  readonly onConfirmed: () => void;
  readonly onRefused: () => void;
}
export const confirmation = createStore<ConfirmationRequest | undefined>(undefined);
let pendingConfirmation: Promise<void> | undefined;

function confirm(): Promise<void> {
  pendingConfirmation ??= new Promise<void>((resolve, reject) => {
    confirmation.set({ onConfirmed: resolve, onRefused: () => reject(new NotConfirmedError()) });
  }).finally(() => {
    confirmation.set(undefined);
    pendingConfirmation = undefined;
  });
  return pendingConfirmation;
}

/**
 * Makes a request as the operator and returns the response. Renews the session and repeats the request if its token is
 * refused; asks the operator to confirm who they are if the login is too old for the operation.
 *
 * @throws ProblemError, NetworkError, SignedOutError, NotConfirmedError
 */
export async function send(method: Method, url: string, options: AnyRequest = {}): Promise<Response> {
  const fullUrl = urlWith(url, options.path, options.query);
  const { authorization = 'operator' } = options;
  if (authorization !== 'operator')
    return throwUnlessOk(
      await trackedFetch(fullUrl, requestInit(method, options, authorization === 'none' ? undefined : authorization)),
    );
  let hasRenewed = false;
  for (;;) {
    const token = await session.token();
    const response = await trackedFetch(fullUrl, requestInit(method, options, `Bearer ${token}`));
    if (response.ok) {
      markStorage(true);
      return response;
    }
    const problem = await problemOf(response);
    if (problem.code === 'storage_unavailable') markStorage(false);
    if (problem.status === 401 && !hasRenewed) {
      session.discardToken(token);
      hasRenewed = true;
    } else if (problem.code === 'fresh_proof_required') await confirm();
    else throw problem;
  }
}

/**
 * Calls an operation of the API, with its types from schema.ts:
 * `request<GetUserData, GetUserResponse>('GET', '/admin/v1/users/{id}', { path: { id } })`.
 *
 * @throws as `send`
 */
export async function request<O extends Operation, Answer>(
  method: Method,
  url: O['url'],
  ...[options]: Record<string, never> extends RequestOptions<O> ? [RequestOptions<O>?] : [RequestOptions<O>]
): Promise<Answer> {
  return parseAnswer<Answer>(await send(method, url, options));
}

function requestInit(method: Method, options: AnyRequest, authorization?: string): RequestInit {
  const headers: Record<string, string> = { 'Accept-Language': language, ...options.headers };
  if (authorization !== undefined) headers.Authorization = authorization;
  const { body, signal } = options;
  const isEncoded = typeof body === 'string' || body instanceof Blob || body instanceof FormData;
  if (body !== undefined && !isEncoded) headers['Content-Type'] ??= 'application/json';
  return {
    method,
    headers,
    signal: signal ?? null,
    cache: 'no-store',
    credentials: 'same-origin',
    redirect: 'error',
    ...(body !== undefined && { body: isEncoded ? body : JSON.stringify(body) }),
  };
}

function urlWith(url: string, path: unknown, query: unknown): string {
  const pathText = url.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(pathValue(path, name))));
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== '') parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return text === '' ? pathText : `${pathText}?${text}`;
}

function pathValue(path: unknown, name: string): unknown {
  const member = Object.entries(path ?? {}).find(([key]) => key === name);
  if (member === undefined) throw new TypeError(`the path needs ${name}`);
  return member[1];
}

async function throwUnlessOk(response: Response): Promise<Response> {
  if (!response.ok) throw await problemOf(response);
  return response;
}

async function parseAnswer<Answer>(response: Response): Promise<Answer> {
  const text = await response.text();
  return (text === '' ? undefined : JSON.parse(text)) as Answer;
}
