import { hoistHeaders, hoistParameters, hoistSchemas } from './components.js';
import { addExamples } from './examples.js';
import { type JsonObject, objectAt } from './json-schema.js';
import { completeOperation, type DescribedRoute } from './operations.js';
import { problemComponents } from './problems.js';
import { tags } from './tags.js';

export interface DocumentOptions {
  /** The routes by operation id. */
  readonly routes: ReadonlyMap<string, DescribedRoute>;
}

/** The problems with which blocks of addresses and limits of requests can refuse any request. */
const problemsOfAnyRoute = ['address_blocked', 'too_many_requests', 'https_required'] as const;

/** Completes the document that the framework generates: adds problems, components and examples. */
export function completeDocument<Document extends object>(
  generated: Document,
  options: DocumentOptions,
): Document & JsonObject {
  const document: JsonObject = Object.fromEntries(Object.entries(structuredClone(generated)));
  const codes = operationsOf(document).flatMap((operation) => {
    const route = options.routes.get(String(operation.operationId));
    return route === undefined ? [] : completeOperation(operation, route);
  });
  document.components = {
    ...objectAt(document, 'components'),
    responses: problemComponents(new Set([...codes, ...problemsOfAnyRoute])),
  };
  hoistHeaders(document);
  hoistParameters(document);
  hoistSchemas(document);
  addExamples(document);
  return Object.assign({}, generated, document);
}

function operationsOf(document: JsonObject): JsonObject[] {
  const paths = Object.values(objectAt(document, 'paths')) as JsonObject[];
  return paths.flatMap((path) => Object.values(path) as JsonObject[]);
}

/** The parts of the document that come from no route. */
export function documentFrame(options: { readonly version: string; readonly publicUrl: string | undefined }) {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Postern',
      version: options.version,
      description:
        'Two-token authentication and per-user notifications. Log in to get an authentication token. Exchange it for short session tokens. Use a session token for everything else. Any operation except the probes can answer 403 `address_blocked`, and 429 `too_many_requests` with `RateLimit` headers, if operators block addresses or limit requests. Any of them answers 400 `https_required` if the proxy says that the request came by plain http although the service has an https URL.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: options.publicUrl ?? '/' }],
    tags,
    components: { securitySchemes },
  };
}

const securitySchemes = {
  authenticationToken: {
    type: 'http' as const,
    scheme: 'basic',
    description: 'The authentication token as user name, with an empty password: base64 of `psa_…` or `psa_…:`.',
  },
  session: { type: 'http' as const, scheme: 'bearer', bearerFormat: 'pss_…', description: 'A session token.' },
  apiKey: {
    type: 'http' as const,
    scheme: 'bearer',
    bearerFormat: 'psk_…',
    description: 'An API key. Each operation names the scope that it needs.',
  },
};
