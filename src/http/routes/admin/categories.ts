import { type Static, Type } from 'typebox';
import {
  Category,
  CategoryChanges,
  CategoryInput,
  MessagePreview,
  MessagePreviewRequest,
  maxCategories,
  NamedCategoryInput,
} from '../../../contract/category.js';
import { Simulation, SimulationRequest } from '../../../contract/simulation.js';
import type { Handle } from '../../../database/database.js';
import { allowsChange, isUnchanged } from '../../../lib/http-headers.js';
import type { Categories } from '../../../notifications/categories/categories.js';
import { maxSetBytes } from '../../../notifications/categories/check.js';
import type { Simulator } from '../../../notifications/simulator.js';
import { dryRunQuery, readDryRun } from '../../requests/parameters.js';
import { type App, originOf } from '../../requests/route.js';

const access = { scope: 'notifications:configure' } as const;
const Params = Type.Object({ name: Type.String({ maxLength: 255 }) });
const CategoryInputs = Type.Array(NamedCategoryInput, { maxItems: maxCategories });

interface CategoryServices {
  readonly categories: Categories;
  readonly simulator: Simulator;
  readonly database: Handle;
}

/** Routes that define the categories of notifications. Within two seconds, all instances use a change. */
export function adminCategoryRoutes(app: App, services: CategoryServices): void {
  setRoutes(app, services);
  readRoutes(app, services);
  changeRoutes(app, services);
}

/** The routes of all categories together. */
function setRoutes(app: App, { categories, database }: CategoryServices): void {
  app.route({
    method: 'GET',
    url: '/admin/v1/categories',
    schema: {
      operationId: 'listCategories',
      summary: 'List the categories of notifications',
      description:
        'All categories, by name. Each notification type has one. The answer can be sent back with PUT; its ETag is for If-Match.',
      response: {
        200: Type.Array(Category, { description: 'The categories.' }),
        304: Type.Null({ description: 'No category has changed since the response with this ETag.' }),
      },
    },
    config: { access },
    async handler(request, reply) {
      const { categories: all, tag } = await categories.list();
      reply.headers({ ETag: tag, 'Cache-Control': 'private, no-cache' });
      if (isUnchanged(request.headers['if-none-match'], tag)) return reply.code(304).send(null);
      return reply.code(200).send([...all]);
    },
  });

  app.route({
    method: 'PUT',
    url: '/admin/v1/categories',
    bodyLimit: maxSetBytes,
    schema: {
      operationId: 'replaceCategories',
      summary: 'Replace all categories of notifications',
      description:
        'Postern replaces all of them or none. A notification type that is missing gets the defaults again; other categories that are missing are deleted. With If-Match, nothing is replaced if another request has changed a category since the response with this ETag.',
      querystring: dryRunQuery('Report what would change, and write nothing.'),
      body: CategoryInputs,
      response: { 200: { ...CategoryChanges, description: 'What has changed, or would change.' } },
    },
    config: {
      access,
      recentProof: 'needed',
      problems: ['precondition_failed'],
      checkQuery: readDryRun,
      checkBody: categories.errorsOf,
    },
    async handler(request, reply) {
      const { changes, tag } = await database.transaction((tx) =>
        categories.replace(tx, request.body, {
          origin: originOf(request),
          isDryRun: readDryRun(request.query),
          isExpected: (current) => allowsChange(request.headers['if-match'], current),
        }),
      );
      await categories.refresh();
      return reply.header('ETag', tag).send(changes);
    },
  });
}

function readRoutes(app: App, { categories, database, simulator }: CategoryServices): void {
  app.route({
    method: 'GET',
    url: '/admin/v1/categories/:name',
    schema: {
      operationId: 'getCategory',
      summary: 'Get a category of notifications',
      params: Params,
      response: { 200: { ...Category, description: 'The category.' } },
    },
    config: { access, problems: ['not_found'] },
    handler: async (request) => categories.find(request.params.name),
  });

  app.route({
    method: 'POST',
    url: '/admin/v1/categories/:name/preview',
    schema: {
      operationId: 'previewCategory',
      summary: 'Preview a message of a category',
      description:
        'Renders the template that a user of this language would get. The name of the user is an example. Nothing is sent.',
      params: Params,
      body: MessagePreviewRequest,
      response: { 200: { ...MessagePreview, description: 'The message.' } },
    },
    config: { access, recentProof: 'not-needed', problems: ['not_found'] },
    handler: async (request) => categories.preview(request.params.name, request.body),
  });

  app.route({
    method: 'POST',
    url: '/admin/v1/categories/:name/simulate',
    bodyLimit: maxSetBytes,
    schema: {
      operationId: 'simulateCategory',
      summary: 'Simulate notifications of a category',
      description:
        'What becomes of notifications for one user, and when: by the function that decides about real ones. Providers accept everything at once. Nothing is written.',
      params: Params,
      body: SimulationRequest,
      response: { 200: { ...Simulation, description: 'What the service would do.' } },
    },
    config: {
      access,
      recentProof: 'not-needed',
      problems: ['not_found'],
      checkFaultyBody: (body, { request }) =>
        simulator.errorsOf(database, (request.params as Static<typeof Params>).name, body),
    },
    handler: async (request) => simulator.simulate(database, request.params.name, request.body),
  });
}

function changeRoutes(app: App, { categories, database }: CategoryServices): void {
  const Created = { ...Category, description: 'The new category.' };
  app.route({
    method: 'PUT',
    url: '/admin/v1/categories/:name',
    bodyLimit: maxSetBytes,
    schema: {
      operationId: 'putCategory',
      summary: 'Create or replace a category of notifications',
      description:
        'A member that is missing gets its default. Pushes that are not sent yet use the new steps, texts and defaults.',
      params: Params,
      body: CategoryInput,
      response: { 200: { ...Category, description: 'The changed category.' }, 201: Created },
    },
    config: { access, recentProof: 'needed', checkBody: categories.errorsOf },
    async handler(request, reply) {
      const { category, isNew } = await database.transaction((tx) =>
        categories.put(tx, request.params.name, request.body, originOf(request)),
      );
      await categories.refresh();
      return reply.code(isNew ? 201 : 200).send(category satisfies Static<typeof Created>);
    },
  });

  app.route({
    method: 'DELETE',
    url: '/admin/v1/categories/:name',
    schema: {
      operationId: 'deleteCategory',
      summary: 'Delete a category of notifications',
      description: 'Notifications of the category keep its name.',
      params: Params,
      response: { 204: Type.Null({ description: 'The category is deleted.' }) },
    },
    config: { access, recentProof: 'needed', problems: ['not_found', 'category_built_in'] },
    async handler(request, reply) {
      await database.transaction((tx) => categories.remove(tx, request.params.name, originOf(request)));
      await categories.refresh();
      return reply.code(204).send(null);
    },
  });
}
