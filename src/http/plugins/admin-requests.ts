import type { FastifyRequest, RouteOptions } from 'fastify';
import { type FieldError, refuseFaults } from '../../lib/problem.js';
import type { QueryParameters } from '../list-query.js';
import type { App } from '../route.js';
import { closed, faultsOf, parameterNames, unknownMembers, unknownName, unknownOf } from './known-names.js';
import { validationFaults } from './validation.js';

/**
 * Requests of the administration name only what exists. An unknown member or parameter is refused together with all that
 * is wrong in form: a mistyped name would otherwise change something else than its sender wants, and say nothing.
 * Routes under `/v1` ignore what is unknown, for their clients (decision 65).
 */
export function adminRequestsPlugin(app: App): void {
  app.addHook('onRoute', (route) => {
    if (isAdmin(route.url)) closeRoute(route);
  });
}

export function isAdmin(url: string): boolean {
  return url.startsWith('/admin/');
}

/** Changes the route's own schemas, so that validation and the OpenAPI document agree. */
function closeRoute(route: RouteOptions): void {
  const { schema, config } = route;
  if (schema?.body !== undefined) schema.body = closed(schema.body as object);
  if (config?.ndjson !== undefined) config.ndjson = closed(config.ndjson);
  // What validation finds waits for what the hook finds.
  route.attachValidation = true;
  route.preHandler = [refuseFaulty, ...[route.preHandler ?? []].flat()];
}

async function refuseFaulty(request: FastifyRequest): Promise<void> {
  const faults = [...bodyFaults(request), ...unknownParameters(request)];
  // What is wrong with known parameters alone, the handler finds.
  if (faults.length > 0) refuseFaults([...faults, ...knownParameterFaults(request)]);
}

function bodyFaults({ body, validationError, routeOptions }: FastifyRequest): FieldError[] {
  if (validationError !== undefined) return validationFaults(validationError.validation);
  return routeOptions.schema?.body === undefined ? unknownMembers(body, []) : [];
}

/** All that is wrong with the query of a request. */
export function queryFaults(request: FastifyRequest): FieldError[] {
  return [...unknownParameters(request), ...knownParameterFaults(request)];
}

function unknownParameters({ query, routeOptions }: FastifyRequest): FieldError[] {
  const known = parameterNames(routeOptions);
  const unknown = unknownOf(Object.keys(query as QueryParameters), known);
  return unknown.map((name) => unknownName('unknown_parameter', name, known));
}

function knownParameterFaults({ query, routeOptions }: FastifyRequest): readonly FieldError[] {
  const { checkQuery } = routeOptions.config;
  return checkQuery === undefined ? [] : faultsOf(() => checkQuery(query as QueryParameters));
}
