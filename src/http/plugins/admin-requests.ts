import type { FastifyRequest, RouteOptions } from 'fastify';
import { type FieldError, throwIfErrors } from '../../lib/problem.js';
import type { QueryParameters } from '../lists/list-query.js';
import type { App } from '../requests/route.js';
import {
  closed,
  errorsOf,
  maxReportedErrors,
  parameterNames,
  unknownMembers,
  unknownName,
  unknownOf,
} from './known-names.js';
import { validationErrors } from './validation.js';

/**
 * Refuses unknown members and parameters in requests under `/admin/v1`, together with all other errors of form: a
 * mistyped name would otherwise be ignored silently. Routes under `/v1` ignore unknown names (decision 31).
 */
export function adminRequestsPlugin(app: App): void {
  app.addHook('onRoute', (route) => {
    if (isAdmin(route.url)) closeRoute(route);
    else if (route.config?.checkFaultyBody !== undefined) checkWholeBody(route);
  });
}

/** Whether a URL belongs to the admin API. */
export function isAdmin(url: string): boolean {
  return url.startsWith('/admin/');
}

/** Changes the route's own schemas, so that validation and the OpenAPI document agree. */
function closeRoute(route: RouteOptions): void {
  const { schema, config } = route;
  if (schema?.body !== undefined) schema.body = closed(schema.body as object);
  if (config?.ndjson !== undefined) config.ndjson = closed(config.ndjson);
  // Validation only collects errors: the hook reports them together with its own.
  route.attachValidation = true;
  route.preHandler = [refuseFaulty, ...[route.preHandler ?? []].flat()];
}

/** Reports errors of the form of a body together with those of its meaning. */
function checkWholeBody(route: RouteOptions): void {
  route.attachValidation = true;
  route.preHandler = [
    async (request) => {
      if (request.validationError === undefined) return;
      throwIfErrors([...bodyErrors(request), ...(await errorsOfMeaning(request))]);
    },
    ...[route.preHandler ?? []].flat(),
  ];
}

async function refuseFaulty(request: FastifyRequest): Promise<void> {
  const errors = [...bodyErrors(request), ...(await errorsOfMeaning(request)), ...unknownParameters(request)];
  // If only known parameters are invalid, the handler reports them.
  if (errors.length > 0) throwIfErrors([...errors, ...knownParameterErrors(request)]);
}

function bodyErrors({ body, validationError, routeOptions }: FastifyRequest): FieldError[] {
  if (validationError !== undefined) return validationErrors(validationError.validation);
  return routeOptions.schema?.body === undefined ? unknownMembers(body, []) : [];
}

/** All errors of the query of a request. */
export function queryErrors(request: FastifyRequest): FieldError[] {
  return [...unknownParameters(request), ...knownParameterErrors(request)];
}

/** The errors in the meaning of the parts of a body that have the right form. */
async function errorsOfMeaning(request: FastifyRequest): Promise<FieldError[]> {
  const { checkBody, checkFaultyBody } = request.routeOptions.config;
  if (checkBody === undefined && checkFaultyBody === undefined) return [];
  const faults = bodyErrors(request);
  const formFields = new Set(faults.map(({ field }) => field));
  // `checkFaultyBody` is for checks that are only needed here: the handler makes them if the form is right.
  const errors = (await checkBody?.(request.body, faults)) ?? [];
  if (faults.length > 0) errors.push(...((await checkFaultyBody?.(request.body, { faults, request })) ?? []));
  return errors.filter(({ field }) => !formFields.has(field)).slice(0, maxReportedErrors);
}

function unknownParameters({ query, routeOptions }: FastifyRequest): FieldError[] {
  const knownParameters = parameterNames(routeOptions);
  const unknown = unknownOf(Object.keys(query as QueryParameters), knownParameters);
  return unknown.map((name) => unknownName('unknown_parameter', name, knownParameters));
}

function knownParameterErrors({ query, routeOptions }: FastifyRequest): readonly FieldError[] {
  const { checkQuery } = routeOptions.config;
  return checkQuery === undefined ? [] : errorsOf(() => checkQuery(query as QueryParameters));
}
