import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { completeDocument, documentFrame } from '../openapi/document.js';
import { type DescribedRoute, documentedSchema } from '../openapi/operations.js';
import type { App } from '../route.js';

/**
 * Generates the OpenAPI document from the schemas that validate and serialise. `../openapi/` adds what the routes share
 * and names the parts.
 */
export async function openApiPlugin(
  app: App,
  options: { readonly version: string; readonly publicUrl: string | undefined },
): Promise<void> {
  /** By operation id. */
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
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { deepLinking: true, defaultModelsExpandDepth: -1 },
    staticCSP: true,
    // Behind plain HTTP there is nothing that answers the upgraded requests: the page would stay empty.
    transformStaticCSP: (policy) => policy.replace(' upgrade-insecure-requests;', ''),
  });
}
