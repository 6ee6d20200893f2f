import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { pathOf } from '../../lib/urls.js';
import { compressFiles } from '../plugins/compression.js';
import type { App } from '../requests/route.js';
import { docsPageConfig } from './docs-page.js';
import { completeDocument, documentFrame } from './document.js';
import { type DescribedRoute, documentedSchema } from './operations.js';

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
    await scope.register(swaggerUi, {
      routePrefix: '/docs',
      indexPrefix: pathOf(options.publicUrl),
      uiConfig: docsPageConfig,
      staticCSP: true,
      // Over plain HTTP the upgraded requests would fail, and the page would stay empty.
      transformStaticCSP: (policy) =>
        policy
          .replace(' upgrade-insecure-requests;', '')
          .replace("base-uri 'self'", "base-uri 'none'")
          .replace("frame-ancestors 'self'", "frame-ancestors 'none'")
          .replaceAll(/ (https:|validator\.swagger\.io)(?=[ ;])/g, ''),
    });
  });
}
