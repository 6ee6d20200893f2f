import { createHash } from 'node:crypto';
import { stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { type Language, type Text, text } from '../../contract/errors/text.js';
import { providerProblems } from '../../contract/login-provider/problems.js';
import { escapeHtml } from '../../lib/html.js';
import { formatText, preferredLanguage } from '../../lib/language.js';
import type { RequestLimits } from '../../limits/request-limits.js';
import type { RedirectPage, Returned } from '../../login/providers/redirect-results.js';
import type { Redirects } from '../../login/providers/redirects.js';
import { cookieValue } from '../requests/cookies.js';
import { type App, originOf } from '../requests/route.js';
import type { PageShell, SendRedirectPage } from './pages/shell.js';

interface RedirectServices {
  readonly redirects: Redirects;
  /** Without a slash at the end. */
  readonly publicUrl: string | undefined;
  readonly limits: Pick<RequestLimits, 'countLoginByAddress'>;
}

/** The work ends by itself: an exchange with a provider has its own limits, which are longer than those of other requests. */
const config = { access: 'public', hasNoHandlerTimer: true } as const;
/** These are pages, and not parts of the API. */
const schema = { hide: true } as const;
/** A posted answer is stored: a code, a state and a name. */
const maxAnswerBytes = 8192;
const CallbackParams = Type.Object({ name: Type.String() });

/** Routes that a browser opens during a login at a provider. */
export function redirectRoutes(
  app: App,
  { redirects, publicUrl, limits }: RedirectServices,
  sendPage: SendRedirectPage,
): void {
  const isSecure = publicUrl?.startsWith('https:') === true;
  const cookieName = isSecure ? '__Host-postern-redirect' : 'postern-redirect';

  const count = (request: FastifyRequest) => limits.countLoginByAddress(originOf(request).clientAddress);
  const go = (request: FastifyRequest, reply: FastifyReply, next: Returned) => {
    if ('url' in next) return reply.redirect(next.url, 303);
    if (next.page === 'other_browser') app.noteRefusal(request, 'redirect_in_other_browser');
    return sendPage(request, reply, next);
  };

  app.route({
    method: 'GET',
    url: '/redirects/:id',
    // A HEAD request is no visit.
    exposeHeadRoute: false,
    schema: { ...schema, params: Type.Object({ id: Type.String() }) },
    config,
    async handler(request, reply) {
      await count(request);
      const next = await redirects.visit(request.params.id, cookieValue(request, cookieName));
      if ('page' in next) return sendPage(request, reply, next);
      if (next.browser !== undefined) {
        const attributes = { path: '/', httpOnly: true, secure: isSecure, sameSite: 'lax' } as const;
        reply.header('set-cookie', stringifySetCookie({ name: cookieName, value: next.browser, ...attributes }));
      }
      return go(request, reply, next);
    },
  });

  app.route({
    method: 'GET',
    url: '/callback/:name',
    exposeHeadRoute: false,
    schema: { ...schema, params: CallbackParams },
    config,
    async handler(request, reply) {
      await count(request);
      const answer = new URLSearchParams(request.url.replace(/^[^?]*\??/, ''));
      return go(
        request,
        reply,
        await redirects.callback(request.params.name, answer, cookieValue(request, cookieName)),
      );
    },
  });

  // Apple posts its answer from its own page, so the browser sends no cookie with it.
  void app.register(async (scope) => {
    scope.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
      done(null, String(body)),
    );
    scope.route({
      method: 'POST',
      url: '/callback/:name',
      schema: { ...schema, params: CallbackParams },
      config: { ...config, optionalBody: true },
      bodyLimit: maxAnswerBytes,
      async handler(request, reply) {
        await count(request as FastifyRequest);
        const { name } = request.params as { name: string };
        const answer = new URLSearchParams(typeof request.body === 'string' ? request.body : '');
        return go(request as FastifyRequest, reply as FastifyReply, await redirects.post(name, answer));
      },
    });
  });
}

interface PageTexts {
  readonly status: number;
  readonly title: Text;
  /** What the person can do. */
  readonly body: Text;
  /** What the operator of the app can do. */
  readonly operator?: Text;
}

const pages: Readonly<Record<RedirectPage['page'], PageTexts>> = {
  ended: {
    status: 410,
    title: text('This sign-in has ended', 'Este inicio de sesión ha terminado'),
    body: text(
      'It has expired, or it was used already. Go back to the app, and sign in again.',
      'Ha caducado o ya se ha usado. Vuelve a la aplicación e inicia sesión de nuevo.',
    ),
  },
  other_browser: {
    status: 400,
    title: text('Sign in again in this browser', 'Inicia sesión de nuevo en este navegador'),
    body: text(
      'The sign-in began in another browser, or this browser refuses cookies. Allow cookies for this site, go back to the app, and sign in again.',
      'El inicio de sesión empezó en otro navegador, o este navegador rechaza las cookies. Permite las cookies de este sitio, vuelve a la aplicación e inicia sesión de nuevo.',
    ),
  },
  no_redirect: {
    status: 400,
    title: text('This sign-in cannot go on here', 'Este inicio de sesión no puede seguir aquí'),
    body: text('Go back to the app, and sign in again.', 'Vuelve a la aplicación e inicia sesión de nuevo.'),
    operator: text(
      'For the people who run the app: the request that begins the login needs redirect_to and code_challenge.',
      'Para quienes mantienen la aplicación: la solicitud que empieza el inicio de sesión necesita redirect_to y code_challenge.',
    ),
  },
  not_configured: {
    status: 404,
    title: text('This sign-in is not set up', 'Este inicio de sesión no está configurado'),
    body: text('Go back to the app, and sign in another way.', 'Vuelve a la aplicación e inicia sesión de otra forma.'),
    operator: text(
      'For the people who run the app: {name} is missing in OIDC_PROVIDERS, or has no client_id there.',
      'Para quienes mantienen la aplicación: {name} falta en OIDC_PROVIDERS, o no tiene ahí client_id.',
    ),
  },
  not_listed: {
    status: 400,
    title: text('This sign-in may not return to its app', 'Este inicio de sesión no puede volver a su aplicación'),
    body: text('Go back to the app, and sign in another way.', 'Vuelve a la aplicación e inicia sesión de otra forma.'),
    operator: text(
      'For the people who run the app: {name} is not in REDIRECT_URIS, which lists exact addresses.',
      'Para quienes mantienen la aplicación: {name} no está en REDIRECT_URIS, que es una lista de direcciones exactas.',
    ),
  },
  test_passed: {
    status: 200,
    title: text('The test worked', 'La prueba ha funcionado'),
    body: text(
      'The console shows the account. Nobody was signed in. You can close this window.',
      'La consola muestra la cuenta. No ha iniciado sesión nadie. Puedes cerrar esta ventana.',
    ),
  },
  test_failed: {
    status: 200,
    title: text('The test failed', 'La prueba ha fallado'),
    body: text(
      'You can close this window. The console shows the same.',
      'Puedes cerrar esta ventana. La consola muestra lo mismo.',
    ),
  },
};

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:30rem;margin:20vh auto 0;padding:0 1.5rem;color:#1a1d21;background:#fff}h1{font-size:1.375rem;line-height:1.3;margin:0 0 .5rem}p{margin:0 0 .75rem;overflow-wrap:anywhere}@media(prefers-color-scheme:dark){body{color:#e7e9ec;background:#16181b}}';
const pagePolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

/**
 * Creates the pages for browsers that cannot go on: an address that nobody has listed must never be the next page of one.
 * @param shell the frame of the pages of this service, if it has some
 */
export function createRedirectPage(shell: PageShell | undefined): SendRedirectPage {
  return (request, reply, shown) => {
    const { status, title } = pages[shown.page];
    if (shell !== undefined) {
      const content = (language: Language) =>
        `<div class="card"><h2>${title[language]}</h2>${contentOf(shown, language)}</div>`;
      return shell.send(request, reply, { status, title, content });
    }
    const language = preferredLanguage(request.headers['accept-language']);
    const html = `<!doctype html><html lang="${language}"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${title[language]}</title><style>${style}</style><main><h1>${title[language]}</h1>${contentOf(shown, language)}</main></html>`;
    return reply
      .code(status)
      .headers({ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': pagePolicy })
      .send(html);
  };
}

const beginAgain = text('Begin again', 'Empezar de nuevo');

function contentOf({ page, name = '', problem, again }: RedirectPage, language: Language): string {
  const { body, operator } = pages[page];
  const { message, remedy } = problem === undefined ? {} : providerProblems[problem.code];
  const detail = problem?.detail;
  const paragraphs = [
    message && formatText(message, language, detail === undefined ? {} : { detail }),
    remedy?.[language],
    body[language],
    operator && formatText(operator, language, { name: name.slice(0, 300) }),
  ];
  const content = paragraphs.flatMap((one) => (one ? `<p>${escapeHtml(one)}</p>` : [])).join('');
  const link = again && `<p><a class="button primary" href="${escapeHtml(again)}">${beginAgain[language]}</a></p>`;
  return content + (link ?? '');
}
