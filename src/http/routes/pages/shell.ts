import { createHash } from 'node:crypto';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Language, type Text, text } from '../../../contract/errors/text.js';
import { escapeHtml } from '../../../lib/html.js';
import { preferredLanguage } from '../../../lib/language.js';
import type { RedirectPage } from '../../../login/providers/redirect-results.js';
import { type Asset, type Assets, type Coding, pageHeaders } from '../console/files.js';
import { brandColors } from './colors.js';
import { pageStyle } from './style.js';

/** How the pages show the service. */
export interface PageBrand {
  readonly name: string;
  /** `#rrggbb` */
  readonly color: string;
  readonly logo: { readonly png: Buffer; readonly width: number; readonly height: number } | undefined;
  readonly termsUrl: string | undefined;
  readonly privacyUrl: string | undefined;
}

/** Answers a browser whose login cannot go on. */
export type SendRedirectPage = (request: FastifyRequest, reply: FastifyReply, page: RedirectPage) => FastifyReply;

/** The frame of every page: the name or the logo, the links, the style and the script. */
export interface PageShell {
  /** The files of the pages, by name. */
  readonly assets: Assets;
  send(request: FastifyRequest, reply: FastifyReply, page: ShellPage): FastifyReply;
}

export interface ShellPage {
  readonly status?: number;
  readonly title: Text;
  /** The name of the script that `scripts/compile.mjs` has built. */
  readonly script?: 'sign-in' | 'account' | 'link';
  /** Whether it is wider than a form. */
  readonly isWide?: boolean;
  /** HTML. */
  readonly content: (language: Language) => string;
}

const texts = {
  terms: text('Terms', 'Condiciones'),
  privacy: text('Privacy', 'Privacidad'),
  script: text('This page needs JavaScript.', 'Esta página necesita JavaScript.'),
};

/**
 * Creates the frame.
 * @param built the scripts
 * @param publicPath the path of PUBLIC_URL, without a slash at its end
 * @throws Error if a script is missing
 */
export function createPageShell(brand: PageBrand, built: Assets, publicPath: string): PageShell {
  const style = assetOf(pageStyle(brandColors(brand.color)), 'text/css; charset=utf-8');
  const styleName = `style-${digestOf(style.plain)}.css`;
  const assets = new Map([...built, [styleName, style]]);
  const { logo } = brand;
  const logoName = logo && `logo-${digestOf(logo.png)}.png`;
  if (logo && logoName) assets.set(logoName, { type: 'image/png', plain: logo.png, compressed: new Map() });

  const url = (name: string) => escapeHtml(`${publicPath}/pages/assets/${name}`);
  const scripts = new Map(
    (['sign-in', 'account', 'link'] as const).map((name) => {
      const file = [...built.keys()].find((one) => one.startsWith(`page-${name}-`) && one.endsWith('.js'));
      if (file === undefined) throw new Error(`the script of the page ${name} is missing: run npm run build`);
      const tags = partsOf(built, file).map((one) => `<link rel="modulepreload" href="${url(one)}">`);
      return [name, `${tags.join('')}<script type="module" src="${url(file)}"></script>`] as const;
    }),
  );
  const name = escapeHtml(brand.name);
  const heading =
    logo && logoName
      ? `<img src="${url(logoName)}" alt="${name}" width="${Math.ceil(logo.width / 2)}" height="${Math.ceil(logo.height / 2)}">`
      : name;
  const icon = logoName === undefined ? 'data:,' : url(logoName);
  const link = (address: string | undefined, title: string) =>
    address === undefined ? '' : `<a href="${escapeHtml(address)}">${title}</a>`;

  return {
    assets,
    send(request, reply, { status = 200, title, script, isWide = false, content }) {
      const language = preferredLanguage(request.headers['accept-language']);
      const scriptTags = (script && scripts.get(script)) ?? '';
      const noScript = scriptTags === '' ? '' : `<noscript><p class="card">${texts.script[language]}</p></noscript>`;
      const links = link(brand.termsUrl, texts.terms[language]) + link(brand.privacyUrl, texts.privacy[language]);
      const html = `<!doctype html><html lang="${language}"${isWide ? ' class="wide"' : ''}><head><meta charset="utf-8"><title>${escapeHtml(title[language])} – ${name}</title><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="robots" content="noindex"><link rel="stylesheet" href="${url(styleName)}"><link rel="icon" href="${icon}">${scriptTags}</head><body><header><h1>${heading}</h1></header><main>${content(language)}${noScript}</main><footer>${links}</footer></body></html>`;
      return reply.code(status).headers(pageHeaders).send(html);
    },
  };
}

/** The parts that a script imports at its start, so that a browser fetches them at once. Others are imported by `import(…)`. */
function partsOf(built: Assets, entry: string): string[] {
  const found = new Set([entry]);
  for (const name of found) {
    const code = built.get(name)?.plain?.toString() ?? '';
    for (const [, part = ''] of code.matchAll(/(?:\bfrom|\bimport)\s*["']\.\/([\w-]+\.js)["']/g)) found.add(part);
  }
  return [...found].slice(1);
}

const digestOf = (content: Buffer) => createHash('sha256').update(content).digest('hex').slice(0, 16);

function assetOf(content: string, type: string): Asset {
  const plain = Buffer.from(content);
  const compressed = new Map<Coding, Buffer>([
    ['br', brotliCompressSync(plain)],
    ['gzip', gzipSync(plain)],
  ]);
  return { type, plain, compressed };
}
