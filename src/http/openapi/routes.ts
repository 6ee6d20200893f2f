import swagger from '@fastify/swagger';
import { pathOf } from '../../lib/urls.js';
import { compressFiles } from '../plugins/compression.js';
import type { App } from '../requests/route.js';
import { completeDocument, documentFrame } from './document.js';
import type { JsonObject } from './json-schema.js';
import { type DescribedRoute, documentedSchema } from './operations.js';
import { referenceScript, referenceStyle } from './reference-files.js';
import { referencePage } from './reference-page.js';

/**
 * Generates the OpenAPI document from the schemas that validate and serialise. The other files of this folder add the
 * shared parts and name the components.
 */
export async function openApiPlugin(
  app: App,
  options: { readonly version: string; readonly publicUrl: string | undefined; readonly apiDocs: boolean },
): Promise<void> {
  /** The routes by operation id. */
  const routes = new Map<string, DescribedRoute>();
  await app.register(swagger, {
    openapi: documentFrame(options),
    transform: ({ url, route }) => {
      const { operationId } = { operationId: undefined, ...route.schema };
      if (operationId !== undefined && route.method !== 'HEAD') routes.set(operationId, route);
      return { schema: documentedSchema(route), url };
    },
    transformObject: (document) => {
      const { openapiObject } = { openapiObject: {}, ...document };
      return completeDocument(openapiObject, { routes });
    },
  });
  if (!options.apiDocs) return;
  await app.register(async (scope) => {
    compressFiles(scope);
    referenceRoutes(scope, pathOf(options.publicUrl));
  });
}

const policy =
  "default-src 'none'; style-src 'self'; script-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** The page of the API and its files. @param path the path of the public URL */
function referenceRoutes(app: App, path: string): void {
  // Made at the first request, when all routes are registered.
  let page: string | undefined;
  const serve = (url: string, type: string, content: () => string) =>
    app.route({
      method: 'GET',
      url,
      schema: { hide: true },
      config: { access: 'public' },
      handler: async (_request, reply) =>
        reply
          .headers({
            'content-type': `${type}; charset=utf-8`,
            'content-security-policy': policy,
            'cache-control': 'public, no-cache',
          })
          .send(content()),
    });
  for (const url of ['/docs', '/docs/']) {
    serve(url, 'text/html', () => {
      page ??= referencePage(app.swagger() as JsonObject, {
        files: `${path}/docs/`,
        documentUrl: `${path}/openapi.json`,
      });
      return page;
    });
  }
  serve('/docs/reference.css', 'text/css', () => referenceStyle);
  serve('/docs/reference.js', 'text/javascript', () => referenceScript);
}
