import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { text } from '../../contract/errors/text.js';
import { createKeyedLimiter } from '../../lib/concurrency-limiter.js';
import { preferredLanguage } from '../../lib/language.js';
import { network } from '../../limits/limit-counts.js';
import type { Unsubscribe } from '../../notifications/preferences/unsubscribe.js';
import { type App, clientAddress } from '../requests/route.js';

/*
 * The link at the end of mails, and in their header List-Unsubscribe. Programs that check mails open every link, so opening it
 * changes nothing: a person presses the button, or a mail program posts what RFC 8058 defines.
 */

const texts = {
  title: text('Get no more mails of this kind?', '¿No quieres recibir más correos de este tipo?'),
  explanation: text(
    'You can change this at any time in the settings of the app.',
    'Puedes cambiarlo cuando quieras en los ajustes de la aplicación.',
  ),
  button: text('Stop these mails', 'Dejar de recibir estos correos'),
  done: text('You get no more mails of this kind', 'Ya no recibirás más correos de este tipo'),
};

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:30rem;margin:20vh auto 0;padding:0 1.5rem;color:#1a1d21;background:#fff}h1{font-size:1.375rem;line-height:1.3;margin:0 0 .5rem}p{margin:0 0 1rem}button{font:inherit;font-weight:600;padding:.6rem 1.1rem;border:0;border-radius:.5rem;color:#fff;background:#1f5fbf;cursor:pointer}button:focus-visible{outline:3px solid #1f5fbf;outline-offset:2px}@media(prefers-color-scheme:dark){body{color:#e7e9ec;background:#16181b}}';
const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'`;

/** A body is a few words. The body does not matter, because the token authenticates. */
const maxBodyBytes = 8192;
const bodyTypes = ['application/x-www-form-urlencoded', 'multipart/form-data'];

/** Each post takes a statement. While more than two of an address run, the others wait, so that others are not delayed. */
const queue = { concurrency: 2, rest: 1, maxWaiting: 200, timeoutMs: 10_000 };

/** The page and the one-click route of List-Unsubscribe. */
export function unsubscribeRoutes(app: App, { unsubscribe }: { unsubscribe: Unsubscribe }): void {
  const inQueue = createKeyedLimiter(queue);
  const Params = Type.Object({ token: Type.String() });
  // This is a page, and not a part of the API.
  const schema = { hide: true, params: Params } as const;
  const config = { access: 'public', optionalBody: true } as const;

  app.route({
    method: 'GET',
    url: '/u/:token',
    schema,
    config,
    handler: async (request, reply) => sendPage(request, reply, 'title'),
  });

  void app.register(async (scope) => {
    for (const type of bodyTypes) {
      if (scope.hasContentTypeParser(type)) scope.removeContentTypeParser(type);
      scope.addContentTypeParser(type, { parseAs: 'buffer' }, (_request, _body, done) => done(null, undefined));
    }
    scope.route<{ Params: { token: string } }>({
      method: 'POST',
      url: '/u/:token',
      schema,
      config,
      bodyLimit: maxBodyBytes,
      async handler(request, reply) {
        const sender = network(clientAddress(request as FastifyRequest));
        await inQueue(sender, () => unsubscribe.turnOff(request.params.token));
        return sendPage(request as FastifyRequest, reply as FastifyReply, 'done');
      },
    });
  });
}

function sendPage(request: FastifyRequest, reply: FastifyReply, heading: 'title' | 'done') {
  const language = preferredLanguage(request.headers['accept-language']);
  const title = texts[heading][language];
  // The form has no action: it posts to the address of the page, also below a path of a proxy.
  const form =
    heading === 'done'
      ? ''
      : `<form method="post"><input type="hidden" name="List-Unsubscribe" value="One-Click"><button>${texts.button[language]}</button></form>`;
  const html = `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="robots" content="noindex"><title>${title}</title><style>${style}</style></head><body><main><h1>${title}</h1><p>${texts.explanation[language]}</p>${form}</main></body></html>`;
  return reply.headers({ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy }).send(html);
}
