import { createHash } from 'node:crypto';
import { type Language, text } from '../../contract/errors/text.js';
import { preferredLanguage } from '../../lib/language.js';
import type { App } from '../requests/route.js';
import type { PageShell } from './pages/shell.js';

/*
 * The page that the link in a mail opens: it shows the code of a login, and sends it nowhere. Programs that check mails open
 * links, run their scripts and click on everything. None of this may use a code up.
 */

const texts = {
  title: text('Your code', 'Tu código'),
  use: text(
    'Type this code in the app or on the page where you asked for it.',
    'Escribe este código en la aplicación o en la página donde lo pediste.',
  ),
  warning: text(
    'Do not give it to anyone. If you did not ask for a code, close this page.',
    'No se lo des a nadie. Si no has pedido ningún código, cierra esta página.',
  ),
  missing: text(
    'This link is not complete. The code is also in the mail.',
    'Este enlace no está completo. El código también está en el correo.',
  ),
};

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:30rem;margin:20vh auto 0;padding:0 1.5rem;color:#1a1d21;background:#fff}h1{font-size:1.375rem;line-height:1.3;margin:0 0 .5rem}p{margin:0 0 .75rem}output{display:block;font:600 2rem/1.4 ui-monospace,monospace;letter-spacing:.25em;margin:0 0 .75rem}@media(prefers-color-scheme:dark){body{color:#e7e9ec;background:#16181b}}';
/** A fragment is never sent to a server. The code leaves the address bar and the history at once. */
const script = `const show=()=>{const[,code]=/^#[0-9a-f-]{36}\\.(\\d{6})$/.exec(location.hash)||[];if(!code)return;document.querySelector('output').textContent=code;document.getElementById('shown').hidden=false;document.getElementById('missing').hidden=true;history.replaceState(null,'',location.pathname)};show();addEventListener('hashchange',show)`;

const hashOf = (source: string) => `'sha256-${createHash('sha256').update(source).digest('base64')}'`;
const policy = `default-src 'none'; style-src ${hashOf(style)}; script-src ${hashOf(script)}; require-trusted-types-for 'script'; trusted-types 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

/** The page of links in mails. @param shell the frame of the pages of this service, if it has some */
export function linkRoutes(app: App, shell: PageShell | undefined): void {
  app.route({
    method: 'GET',
    url: '/link',
    // This is a page, and not a part of the API.
    schema: { hide: true },
    config: { access: 'public' },
    async handler(request, reply) {
      const { title, use, warning, missing } = texts;
      if (shell !== undefined) {
        const content = (language: Language) =>
          `<div class="card"><h2>${title[language]}</h2><div id="shown" hidden><output class="code" aria-live="polite"></output><p>${use[language]}</p><p class="muted">${warning[language]}</p></div><p id="missing">${missing[language]}</p></div>`;
        return shell.send(request, reply, { title, script: 'link', content });
      }
      const language = preferredLanguage(request.headers['accept-language']);
      const html = `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="robots" content="noindex"><title>${title[language]}</title><style>${style}</style></head><body><main><h1>${title[language]}</h1><div id="shown" hidden><output aria-live="polite"></output><p>${use[language]}</p><p>${warning[language]}</p></div><p id="missing">${missing[language]}</p></main><script>${script}</script></body></html>`;
      return reply
        .headers({ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy })
        .send(html);
    },
  });
}
