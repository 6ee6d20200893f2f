import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { text } from '../../../contract/errors/text.js';
import { pathOf } from '../../../lib/urls.js';
import type { PageApps } from '../../../login/pages/page-apps.js';
import type { Pages } from '../../../login/pages/pages.js';
import { type App, originOf } from '../../requests/route.js';
import { type Assets, sendAsset } from '../console/files.js';
import { refuseOtherSites } from '../console/same-site.js';
import { createPageCookies, type PageCookies } from './cookies.js';
import { type PageSessionServices, pageSessionRoutes } from './session.js';
import { createPageShell, type PageBrand, type PageShell, type SendRedirectPage } from './shell.js';

/** What the pages need beside the services of all routes. */
export interface PageServices extends PageSessionServices {
  readonly pages: Pages;
  readonly pageApps: PageApps;
}

/** The pages on one HTTP server. */
export interface PageOptions {
  readonly brand: PageBrand;
  /** What `scripts/compile.mjs` has built. */
  readonly assets: Assets;
  /** Without a slash at its end. */
  readonly publicUrl: string;
}

/** The frame of the pages, for all routes of this service that answer browsers. */
export const shellOf = ({ brand, assets, publicUrl }: PageOptions): PageShell =>
  createPageShell(brand, assets, pathOf(publicUrl));

const titles = {
  signIn: text('Sign in', 'Iniciar sesión'),
  account: text('Your account', 'Tu cuenta'),
};

const Flow = Type.Object({ state: Type.String({ minLength: 1, maxLength: 500 }) });
const Answer = Type.Object({ ...Flow.properties, answer: Type.Optional(Type.Enum(['allow', 'refuse'])) });

/** The pages to sign in and to change the account, and what their scripts ask. `/link` is in link.ts: it exists without them. */
export function pageRoutes(
  app: App,
  services: PageServices,
  { publicUrl }: PageOptions,
  { shell, sendRedirectPage }: { readonly shell: PageShell; readonly sendRedirectPage: SendRedirectPage },
): void {
  const cookies = createPageCookies(publicUrl.startsWith('https:'));
  const onRequest = refuseOtherSites(publicUrl);
  pageSessionRoutes(app, services, { cookies, onRequest });
  flowRoutes(app, services, { cookies, onRequest });

  const config = { access: 'public' } as const;
  const requestOf = (request: FastifyRequest, state: string) => ({
    state,
    browser: cookies.redirectBrowser(request),
    token: cookies.token(request),
  });

  app.route<{ Querystring: { state?: unknown } }>({
    method: 'GET',
    url: '/sign-in',
    schema: { hide: true },
    config,
    onRequest: atPublicHost(publicUrl, cookies),
    async handler(request, reply) {
      const [plain, answer] = [request as FastifyRequest, reply as FastifyReply];
      const state = new URLSearchParams(request.url.replace(/^[^?]*\??/, '')).get('state');
      const flow = state === null ? undefined : await services.pages.read(requestOf(plain, state));
      if (flow !== undefined && 'page' in flow) return sendRedirectPage(plain, answer, flow);
      return shell.send(plain, answer, {
        title: titles.signIn,
        script: 'sign-in',
        content: () => '<postern-sign-in></postern-sign-in>',
      });
    },
  });

  app.route({
    method: 'GET',
    url: '/account',
    schema: { hide: true },
    config,
    onRequest: atPublicHost(publicUrl, cookies),
    handler: async (request, reply) =>
      shell.send(request, reply, {
        title: titles.account,
        script: 'account',
        isWide: true,
        content: () => '<postern-account></postern-account>',
      }),
  });

  app.route<{ Params: { name: string } }>({
    method: 'GET',
    url: '/pages/assets/:name',
    schema: { hide: true },
    config: { access: 'public', hasNoHandlerTimer: true },
    handler: (request, reply) =>
      sendAsset(request as FastifyRequest, reply as FastifyReply, shell.assets.get(request.params.name)),
  });
}

/** What the script of the sign-in page asks about the login of an app. */
function flowRoutes(
  app: App,
  { pages, limits }: PageServices,
  {
    cookies,
    onRequest,
  }: { readonly cookies: PageCookies; readonly onRequest: (request: FastifyRequest) => Promise<void> },
): void {
  const config = { access: 'public' } as const;
  const requestOf = (request: FastifyRequest, state: string) => ({
    state,
    browser: cookies.redirectBrowser(request),
    token: cookies.token(request),
  });

  app.route({
    method: 'POST',
    url: '/pages/flow',
    schema: { hide: true, body: Flow },
    config,
    onRequest,
    handler: async (request, reply) => reply.send(await pages.read(requestOf(request, request.body.state))),
  });

  app.route({
    method: 'POST',
    url: '/pages/answer',
    schema: { hide: true, body: Answer },
    config,
    onRequest,
    async handler(request, reply) {
      await limits.countLoginByAddress(originOf(request).clientAddress);
      const { state, answer } = request.body;
      return reply.send(await pages.answer(requestOf(request, state), answer));
    },
  });
}

/**
 * A hook that sends a browser that has opened a page under another host to the host of PUBLIC_URL: cookies, passkeys and
 * REDIRECT_URIS belong to that one. A proxy may change the header Host, so that
 * the host is still another one after the redirect. The cookie `wasSentOn` prevents a second redirect: the browser gets the page.
 */
function atPublicHost(publicUrl: string, cookies: PageCookies) {
  const { host } = new URL(publicUrl);
  return async (request: FastifyRequest, reply: FastifyReply) => {
    if (request.host === host || cookies.wasSentOn(request)) return;
    cookies.noteSentOn(reply);
    return reply.redirect(`${publicUrl}${request.url}`, 303);
  };
}
