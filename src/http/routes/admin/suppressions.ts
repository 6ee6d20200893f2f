import { Type } from 'typebox';
import { SuppressedAddress, Suppression } from '../../../contract/suppression.js';
import type { Database, Handle } from '../../../database/database.js';
import { canonicalIdentity } from '../../../identities/identity.js';
import { preferredLanguage } from '../../../lib/language.js';
import type { Pacer } from '../../../lib/pacing.js';
import { Problem } from '../../../lib/problem.js';
import { type Suppressions, suppressionFilterFields } from '../../../messages/suppressions.js';
import { listRoutes } from '../../lists/list-routes.js';
import { createNdjsonHandler } from '../../ndjson/exchange.js';
import { isNdjson } from '../../plugins/ndjson-body.js';
import { problemBody } from '../../plugins/problems.js';
import { IdParams, pathId } from '../../requests/parameters.js';
import { type App, callerOf, originOf, requireScope } from '../../requests/route.js';

const url = '/admin/v1/suppressions';
/** The limits of one transaction. */
const chunk = { lines: 500, weight: 500, bytes: 1024 * 1024 };

/** Routes for the addresses that get no mail except codes. */
export function adminSuppressionRoutes(
  app: App,
  services: { suppressions: Suppressions; database: Database; pacer: Pacer },
): void {
  const { suppressions, database } = services;
  createRoute(app, services);

  listRoutes(app, {
    url,
    operationIds: ['listSuppressions', 'getSuppressionPage'],
    summary: 'List suppressed addresses',
    description: 'The addresses themselves are not stored. Find one with POST /admin/v1/suppressions/find.',
    access: { scope: 'users:read' },
    item: Suppression,
    pageTitle: 'SuppressionPage',
    sortable: ['created_at'],
    filterFields: suppressionFilterFields,
    filterExample: 'reason:complaint',
    read: suppressions.list,
  });

  app.route({
    method: 'POST',
    url: `${url}/find`,
    schema: {
      operationId: 'findSuppression',
      summary: 'Find the suppression of an address',
      description: '404: the address is not suppressed.',
      body: SuppressedAddress,
      response: { 200: { ...Suppression, description: 'The suppression.' } },
    },
    config: { access: { scope: 'users:read' }, recentProof: 'not-needed', problems: ['not_found'] },
    async handler(request, reply) {
      const found = await suppressions.find(database, canonicalAddress(request.body));
      if (found === undefined) throw new Problem('not_found');
      return reply.send(found);
    },
  });

  app.route({
    method: 'DELETE',
    url: `${url}/:id`,
    schema: {
      operationId: 'deleteSuppression',
      summary: 'Delete a suppression',
      description: 'The address gets mail again. A further bounce or complaint suppresses it again.',
      params: IdParams,
      response: { 204: Type.Null({ description: 'The suppression is deleted.' }) },
    },
    config: { access: { scope: 'users:write' }, recentProof: 'not-needed', problems: ['not_found'] },
    async handler(request, reply) {
      const id = pathId(request.params);
      await database.transaction((tx) => suppressions.remove(tx, id, originOf(request)));
      return reply.code(204).send(null);
    },
  });
}

function createRoute(
  app: App,
  { suppressions, database, pacer }: { suppressions: Suppressions; database: Handle; pacer: Pacer },
): void {
  const addLines = createNdjsonHandler<string>(app, pacer, (request) => {
    const cause = { reason: 'manual', origin: originOf(request) } as const;
    const language = preferredLanguage(request.headers['accept-language']);
    return {
      chunk,
      toItem: (input) => canonicalAddress(input as SuppressedAddress),
      weightOf: () => 1,
      async process(entries) {
        const addresses = entries.flatMap(({ parsed }) => (parsed instanceof Problem ? [] : parsed));
        const added = await database.transaction((tx) => suppressions.add(tx, addresses, cause));
        let index = 0;
        return entries.map(({ line, parsed }) => {
          if (!(parsed instanceof Problem)) return { line, status: 201, id: added[index++]?.id };
          const { status, errors } = problemBody(parsed, request.id, language);
          return { line, status, errors };
        });
      },
    };
  });
  app.route({
    method: 'POST',
    url,
    schema: {
      operationId: 'createSuppression',
      summary: 'Suppress an address',
      description:
        'The address gets no mail except codes. If it is suppressed already, the suppression stays as it is. With application/x-ndjson, suppresses any number of addresses, one object per line, and answers with a line of result for each.',
      body: SuppressedAddress,
      response: { 201: { ...Suppression, description: 'The suppression.' } },
    },
    // A thief who silences the notices about an account stays unnoticed.
    config: {
      access: { scope: 'users:write' },
      ndjson: SuppressedAddress,
      // The document shows one form. Its answer is the one to a single address.
      document: { body: SuppressedAddress },
      recentProof: 'needed',
    },
    preValidation: async (request, reply) => {
      if (isNdjson(request)) await addLines(request, reply);
    },
    async handler(request, reply) {
      const address = canonicalAddress(request.body);
      const cause = { reason: 'manual', origin: originOf(request) } as const;
      const [suppression] = await database.transaction(async (tx) => {
        // One that is there stays as it is, so the request only reads it.
        const former = await suppressions.find(tx, address);
        if (former !== undefined) requireScope(callerOf(request), 'users:read');
        return suppressions.add(tx, [address], cause);
      });
      if (suppression === undefined) throw new Error('an insert returned no row');
      return reply.code(201).send(suppression);
    },
  });
}

/** @throws Problem `validation_failed` */
function canonicalAddress({ email }: SuppressedAddress): string {
  const identity = canonicalIdentity('email', email);
  if (identity !== undefined) return identity.canonical;
  const errors = [{ field: 'email', code: 'invalid_identity', params: { type: 'email' } } as const];
  throw new Problem('validation_failed', { errors });
}
