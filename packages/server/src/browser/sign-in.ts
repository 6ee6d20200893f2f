import { type IdentityInput, problemFrom } from '@postern/client';
import { identityOf, UsageError } from '@postern/client/internal';
import { headersOf, type RequestLike } from '../sessions/tokens.js';
import type { HandlerContext } from './page-request.js';
import type { Browser } from './session.js';

/** The input of a login: its first step, or the secret of its second step. A form has fields with the same names. */
export type SignInInput =
  | {
      readonly identity: IdentityInput;
      /** With a password. Without one, `authenticator` says how, such as `sms` or `email`. */
      readonly password?: string | undefined;
      readonly authenticator?: string | undefined;
      readonly pin?: string | undefined;
    }
  | { readonly id: string; readonly secret: string; readonly pin?: string | undefined };

/** What comes next in a login. `message` is for the user, in the language of the request. */
export type SignInResult =
  | { readonly step: 'done'; readonly user_id: string }
  /** Ask for the code or the second factor, and call `signIn` with `id` and `secret`. */
  | {
      readonly step: 'secret';
      readonly id: string;
      readonly destination: string | null;
      readonly challenge: unknown;
      readonly message?: string;
    }
  | { readonly step: 'start'; readonly message: string };

/** A cookie that the answer of a login or a logout sets. A lifetime of 0 removes it. */
export interface CookieToSet {
  readonly name: string;
  readonly value: string;
  readonly options: {
    readonly path: '/';
    readonly maxAge: number;
    readonly httpOnly: true;
    readonly sameSite: 'lax' | 'strict';
    readonly secure: boolean;
    readonly domain?: string;
  };
}

/** A request of a page, and where its framework gets cookies from. */
export interface Visit {
  readonly request: RequestLike;
  /** The origin of the app, as the browser sees it. */
  readonly origin: string;
  readonly context?: HandlerContext | undefined;
  readonly setCookie: (cookie: CookieToSet) => void;
}

/** The part of Postern's answer that is used. */
interface LoginAnswer {
  readonly id: string;
  readonly status: 'created' | 'pending' | 'approved' | 'rejected';
  readonly user_id?: string;
  readonly error_message: string;
  readonly destination?: string | null;
  readonly challenge?: unknown;
}

const json = { 'content-type': 'application/json' };
const headersToKeep = ['accept-language', 'cookie', 'x-forwarded-for'];

/** Logs in or out for a page, without its scripts. The framework must have refused requests of other sites. */
export function createSignIn({ session, send }: Browser) {
  async function call(visit: Visit, method: 'POST' | 'DELETE', path: string, body?: object): Promise<Response> {
    const read = headersOf(visit.request);
    const headers = new Headers(body && json);
    for (const name of headersToKeep) {
      const value = read(name);
      if (value !== undefined) headers.set(name, value);
    }
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const answer = await send(new Request(visit.origin + session.basePath + path, init), path, visit.context);
    for (const text of answer.headers.getSetCookie()) visit.setCookie(parseCookie(text));
    return answer;
  }

  return {
    /** @throws PosternError if Postern cannot be reached, UsageError for input that no form has */
    async signIn(visit: Visit, given: SignInInput | FormData): Promise<SignInResult> {
      const input = given instanceof FormData ? fromForm(given) : given;
      const answer =
        'id' in input
          ? await call(visit, 'POST', `/v1/tokens/${encodeURIComponent(input.id)}/secret`, secretOf(input))
          : await call(visit, 'POST', '/v1/tokens', {
              ...firstStepOf(input),
              device: deviceOf(headersOf(visit.request)('sec-ch-ua-platform')),
            });
      if (!answer.ok) {
        const problem = await problemFrom(answer);
        if (problem === null || problem.status >= 500) throw problem ?? new Error(`Postern answered ${answer.status}.`);
        const isOpen = 'id' in input && problem.code === 'authorization_rejected';
        return isOpen
          ? { step: 'secret', id: input.id, destination: null, challenge: null, message: problem.detail }
          : { step: 'start', message: problem.detail };
      }
      const { id, status, user_id = '', error_message, destination, challenge } = (await answer.json()) as LoginAnswer;
      if (status === 'approved') return { step: 'done', user_id };
      if (status === 'rejected') return { step: 'start', message: error_message };
      return { step: 'secret', id, destination: destination ?? null, challenge: challenge ?? null };
    },

    /** Removes the cookie, also if Postern cannot be reached. */
    async signOut(visit: Visit): Promise<void> {
      await call(visit, 'DELETE', '/v1/tokens');
    },
  };
}

function firstStepOf(input: Extract<SignInInput, { identity: unknown }>) {
  const { identity, password, pin, authenticator = password === undefined ? undefined : 'password' } = input;
  if (authenticator === undefined) throw new UsageError('signIn needs `password`, or `authenticator` such as sms.');
  return {
    identity: identityOf(identity),
    authenticator,
    ...(password !== undefined && { secret: password }),
    ...pinOf(pin),
  };
}
const secretOf = ({ secret, pin }: Extract<SignInInput, { id: string }>) => ({ secret, ...pinOf(pin) });
const pinOf = (pin: string | undefined) => pin && { pin };

/** The fields of a form. @throws UsageError */
function fromForm(form: FormData): SignInInput {
  const field = (name: string) => {
    const value = form.get(name);
    return typeof value === 'string' ? value : undefined;
  };
  const [id, secret, identity, pin] = [field('id'), field('secret'), field('identity'), field('pin')];
  if (id !== undefined && secret !== undefined) return { id, secret, pin };
  if (identity === undefined) throw new UsageError('The form needs the field `identity`, or `id` and `secret`.');
  return { identity, pin, password: field('password'), authenticator: field('authenticator') };
}

/** Browsers send their platform with quotes, such as `"macOS"`. */
const deviceOf = (platform: string | undefined) => {
  const name = platform?.replaceAll('"', '');
  return name ? { os_name: name } : {};
};

/** Reads a cookie that the handler of this package wrote. */
function parseCookie(text: string): CookieToSet {
  const [pair = '', ...attributes] = text.split('; ');
  const [name = '', value = ''] = pair.split('=', 2);
  const find = (attribute: string) =>
    attributes.find((one) => one.startsWith(`${attribute}=`))?.slice(attribute.length + 1);
  const domain = find('Domain');
  return {
    name,
    value,
    options: {
      path: '/',
      maxAge: Number(find('Max-Age')),
      httpOnly: true,
      sameSite: find('SameSite') === 'Strict' ? 'strict' : 'lax',
      secure: attributes.includes('Secure'),
      ...(domain !== undefined && { domain }),
    },
  };
}
