import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptsCoding } from '../../../lib/http-headers.js';
import { Problem } from '../../../lib/problem.js';
import type { App } from '../../requests/route.js';

/** The built files of the console, in memory: a later build on the disk cannot mix with the page that is served. */
export interface ConsoleFiles {
  /** `index.html`: the page behind every path. */
  readonly page: Buffer;
  readonly assets: Assets;
}

/** Files by name. Names contain a digest of the content. */
export type Assets = ReadonlyMap<string, Asset>;

export interface Asset {
  readonly type: string;
  readonly plain: Buffer;
  /** The compressed forms that the build has made, by content coding. */
  readonly compressed: ReadonlyMap<Coding, Buffer>;
}

/** The content codings, in the order of preference. */
const codings = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
] as const;
export type Coding = (typeof codings)[number]['name'];

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

/**
 * Reads the files that `console/build.mjs` has written.
 * @throws Error if a file is missing or of an unknown type
 */
export async function readConsoleFiles(folder: string): Promise<ConsoleFiles> {
  const page = await readFile(join(folder, 'index.html'));
  return { page, assets: await readAssets(join(folder, 'assets')) };
}

/** Reads the built files of a folder, with their compressed forms. @throws Error if a file is of an unknown type */
export async function readAssets(folder: string): Promise<Assets> {
  const names = await readdir(folder);
  const read = async (name: string) => [name, await readFile(join(folder, name))] as const;
  const contents = new Map(await Promise.all(names.map(read)));
  const plain = [...contents].filter(([name]) => !codings.some(({ suffix }) => name.endsWith(suffix)));
  const assetOf = (name: string, content: Buffer): Asset => {
    const type = types[extname(name)];
    if (type === undefined) throw new Error(`a page has a file of an unknown type: ${name}`);
    const compressed = codings.flatMap((coding) => {
      const other = contents.get(name + coding.suffix);
      return other === undefined ? [] : [[coding.name, other] as const];
    });
    return { type, plain: content, compressed: new Map(compressed) };
  };
  return new Map(plain.map(([name, content]) => [name, assetOf(name, content)]));
}

/** Everything of the page comes from this service. No inline script, no inline style, no frame, no form target. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "require-trusted-types-for 'script'",
].join('; ');

/** The headers of the page. All other responses have the policy of `headers.ts`, which forbids everything. */
export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
};
const assetHeaders = { 'cache-control': 'public, max-age=31536000, immutable', vary: 'Accept-Encoding' };
const assetPrefix = 'assets/';

/** Answers with an asset, in the form that the client takes. @throws Problem `not_found` */
export function sendAsset(request: FastifyRequest, reply: FastifyReply, asset: Asset | undefined) {
  if (asset === undefined) throw new Problem('not_found');
  const acceptEncoding = request.headers['accept-encoding'];
  const [coding, compressed] = [...asset.compressed].find(([name]) => acceptsCoding(acceptEncoding, name)) ?? [];
  reply.headers({ ...assetHeaders, 'content-type': asset.type });
  if (coding !== undefined) reply.header('content-encoding', coding);
  return reply.send(compressed ?? asset.plain);
}

/** Redirects a browser that opens the root of the service to the console. All other clients get 404 at the root. */
export function consoleEntryRoute(app: App, publicPath: string): void {
  // Without PUBLIC_URL it is relative, so that it also works behind a proxy that removes a prefix of the path.
  const url = publicPath === '' ? 'console' : `${publicPath}/console`;
  app.route({
    method: 'GET',
    url: '/',
    schema: { hide: true },
    config: { access: 'public', hasNoHandlerTimer: true },
    handler(request, reply) {
      if (request.headers.accept?.includes('text/html') !== true) throw new Problem('not_found');
      return reply.header('cache-control', 'no-store').header('vary', 'Accept').redirect(url, 303);
    },
  });
}

/** Routes of the console's files. Every path is the page, which reads the path itself, except paths of assets. */
export function consoleFileRoutes(app: App, { page: builtPage, assets }: ConsoleFiles, publicPath: string): void {
  // The page is behind many paths, so it cannot name its files by relative paths.
  const page = builtPage.toString().replaceAll('"./assets/', `"${publicPath}/console/assets/`);
  for (const url of ['/console', '/console/*']) {
    app.route<{ Params: { '*'?: string } }>({
      method: 'GET',
      url,
      schema: { hide: true },
      config: { access: 'public', hasNoHandlerTimer: true },
      handler(request, reply) {
        const path = request.params['*'] ?? '';
        // A page instead of a missing asset would be cached or run as one.
        if (!path.startsWith(assetPrefix)) return reply.headers(pageHeaders).send(page);
        return sendAsset(request as FastifyRequest, reply as FastifyReply, assets.get(path.slice(assetPrefix.length)));
      },
    });
  }
}
