import { randomInt } from 'node:crypto';
import type { SetUpFactor, SetUpResult, SetUpRole } from '../../src/contract/console/set-up.js';
import { createSetUpLink } from '../../src/sessions/setup-links.js';
import type { ApiAnswer, ProblemAnswer, TestApp } from './app.js';
import { createFactors, originOf } from './factors.js';
import { type CreationOptions, makePasskey } from './software-authenticator.js';

export type Refusable<Body> = Body & Pick<ProblemAnswer, 'errors'>;

/** A browser at the console: it keeps cookies, and sends those of the path. */
export interface ConsoleBrowser {
  /** The cookies, by name. */
  readonly cookies: Map<string, string>;
  send<Body = Record<string, unknown>>(
    method: string,
    path: string,
    options?: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> },
  ): Promise<ApiAnswer<Refusable<Body>> & { readonly setCookies: readonly string[] }>;
}

/** The steps of tests of the console's sign-in and set-up. */
export function createConsole(current: () => TestApp) {
  const { appOf } = createFactors(current);
  const details = (fields: object = {}) => ({
    name: 'Ada Lovelace',
    username: `operator${randomInt(1e12)}`,
    password: 'a battery of horses',
    ...fields,
  });

  function browser(): ConsoleBrowser {
    const cookies = new Map<string, string>();
    return {
      cookies,
      async send<Body>(method: string, path: string, options: Parameters<ConsoleBrowser['send']>[2] = {}) {
        const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
        const headers = { 'sec-fetch-site': 'same-origin', ...(cookie && { cookie }), ...options.headers };
        const answer = await current().api<Refusable<Body>>(method, path, { ...options, headers });
        for (const line of answer.setCookies) {
          const [pair = ''] = line.split(';', 1);
          const [name = '', value = ''] = pair.split('=');
          if (/; Max-Age=0(?:;|$)/.test(line)) cookies.delete(name);
          else cookies.set(name, value);
        }
        return answer;
      },
    };
  }

  const begin = (secret: string, fields: object, client = browser()) =>
    client.send<SetUpFactor>('POST', '/console/setup/factor', { body: { secret, factor: 'totp', ...fields } });
  const complete = (body: object, client = browser()) => client.send<SetUpResult>('POST', '/console/setup', { body });

  async function link(role: SetUpRole = 'operator'): Promise<string> {
    const created = await current().database.transaction((tx) => createSetUpLink(tx, role, { actor: 'system' }));
    return created.secret;
  }
  /** The current code of a factor that is not confirmed yet. */
  const codeOf = (factor: SetUpFactor) => appOf('', factor.totp?.secret ?? '').code();

  return {
    ...{ details, browser, begin, complete, link, codeOf },
    /** The browser's response for a factor that is a passkey. */
    responseOf(factor: SetUpFactor) {
      const options = factor.passkey?.options as unknown as CreationOptions;
      return makePasskey(options, originOf(current()));
    },
    /** A new person with a role, who is signed in to the console. */
    async operator(role: SetUpRole = 'operator') {
      const secret = await link(role);
      const fields = details();
      const { body: factor } = await begin(secret, fields);
      const client = browser();
      const code = await codeOf(factor);
      const { body } = await complete({ secret, ...fields, factor_id: factor.id, code }, client);
      const app = appOf(body.session.user_id, factor.totp?.secret ?? '');
      return { browser: client, session: body.session, username: fields.username, app };
    },
  };
}
