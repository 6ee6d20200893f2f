import { Type } from 'typebox';
import type { App } from '../route.js';

/** What the probes need to know. */
export interface Readiness {
  /** Resolves when the database answers and this instance is not shutting down; rejects otherwise. */
  check(): Promise<void>;
}

const Ok = Type.Object({ status: Type.Literal('ok') });

/** Probes and the API's own description. */
export function operationRoutes(app: App, { readiness }: { readiness: Readiness }): void {
  app.route({
    method: 'GET',
    url: '/livez',
    schema: {
      operationId: 'live',
      summary: 'Whether the process runs',
      tags: ['Operation'],
      response: { 200: { ...Ok, description: 'It does.' } },
    },
    config: { access: 'public' },
    handler: async () => ({ status: 'ok' as const }),
  });

  app.route({
    method: 'GET',
    url: '/readyz',
    schema: {
      operationId: 'ready',
      summary: 'Whether requests can be answered',
      description: 'The database answers and the instance is not shutting down.',
      tags: ['Operation'],
      response: { 200: { ...Ok, description: 'They can.' } },
    },
    config: { access: 'public', problems: ['shutting_down'] },
    async handler() {
      await readiness.check();
      return { status: 'ok' as const };
    },
  });

  app.route({
    method: 'GET',
    url: '/openapi.json',
    schema: { hide: true },
    config: { access: 'public' },
    handler: async (_request, reply) =>
      reply.type('application/json; charset=utf-8').send(JSON.stringify(app.swagger())),
  });
}
