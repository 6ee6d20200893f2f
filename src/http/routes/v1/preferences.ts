import type { Static } from 'typebox';
import {
  PreferenceChanges,
  Preferences as PreferencesSchema,
  UserPreferenceChanges,
} from '../../../contract/preferences.js';
import type { Database } from '../../../database/database.js';
import { preferredLanguage } from '../../../lib/language.js';
import type { RequestLimits } from '../../../limits/request-limits.js';
import type { Preferences } from '../../../notifications/preferences/preferences.js';
import type { Users } from '../../../users/users.js';
import { IdParams, pathId } from '../../requests/parameters.js';
import { type App, callerOf, originOf, requireRightToChange, requireScope, sessionOf } from '../../requests/route.js';

interface PreferenceServices {
  readonly preferences: Preferences;
  readonly database: Pick<Database, 'user'>;
  readonly users: Users;
}

const description =
  'Each category with a cell for each channel. Titles are in the language of Accept-Language, if the category has it.';
const changeDescription =
  'Changes only the cells that the request names; of two requests for the same cell, the later one wins. null takes a choice back, so that the default applies. With inbox off, new notifications of the category count as read and archived, and no tab shows them. Deliveries that quiet hours hold are decided about again when quiet_hours or time_zone change.';
const response = { 200: { ...PreferencesSchema, description: 'The preferences.' } };

/** Routes for what users choose about notifications. */
export function preferenceRoutes(
  app: App,
  { preferences, database, limits }: PreferenceServices & { readonly limits: Pick<RequestLimits, 'countOwnStates'> },
): void {
  const languageOf = (header: string | undefined) => preferredLanguage(header);
  app.route({
    method: 'GET',
    url: '/v1/preferences',
    schema: {
      operationId: 'getPreferences',
      summary: 'Get preferences',
      description,
      response,
    },
    config: { access: 'session' },
    async handler(request, reply) {
      const { user_id: userId } = sessionOf(request);
      const language = languageOf(request.headers['accept-language']);
      return reply.send(await preferences.get(database.user(userId), userId, { language }));
    },
  });

  app.route({
    method: 'PATCH',
    url: '/v1/preferences',
    schema: {
      operationId: 'changePreferences',
      summary: 'Change preferences',
      description: changeDescription,
      body: PreferenceChanges,
      response,
    },
    config: {
      access: 'session',
      problems: ['too_many_requests'],
      checkFaultyBody(body, { request }) {
        const { user_id: userId } = sessionOf(request);
        return preferences.errorsOf(database.user(userId), userId, body, { isOwn: true });
      },
    },
    async handler(request, reply) {
      const { user_id: userId } = sessionOf(request);
      const language = languageOf(request.headers['accept-language']);
      await limits.countOwnStates(userId);
      const view = await database.user(userId).transaction(async (tx) => {
        await preferences.change(tx, userId, request.body, { isOwn: true, origin: originOf(request) });
        return preferences.get(tx, userId, { language });
      });
      return reply.send(view);
    },
  });
}

/** The same for operators. */
export function adminPreferenceRoutes(app: App, { preferences, database, users }: PreferenceServices): void {
  const url = '/admin/v1/users/:id/preferences';
  app.route({
    method: 'GET',
    url,
    schema: {
      operationId: 'getUserPreferences',
      summary: "Get a user's preferences",
      description,
      params: IdParams,
      response: { 200: { ...response[200] } },
    },
    config: { access: { scope: 'users:read' }, problems: ['not_found'] },
    async handler(request, reply) {
      const id = pathId(request.params);
      const language = preferredLanguage(request.headers['accept-language']);
      return reply.send(await preferences.get(database.user(id), id, { language, times: true }));
    },
  });

  app.route({
    method: 'PATCH',
    url,
    schema: {
      operationId: 'changeUserPreferences',
      summary: "Change a user's preferences",
      description: changeDescription,
      params: IdParams,
      body: UserPreferenceChanges,
      response: { 200: { ...response[200] } },
    },
    // A thief who turns off the warnings about an account stays unnoticed only if they are not critical.
    config: {
      access: { scope: 'users:write' },
      recentProof: 'needed',
      problems: ['not_found'],
      checkFaultyBody(body, { request }) {
        const id = pathId(request.params as Static<typeof IdParams>);
        return preferences.errorsOf(database.user(id), id, body, { isOwn: false });
      },
    },
    async handler(request, reply) {
      const id = pathId(request.params);
      const language = preferredLanguage(request.headers['accept-language']);
      const view = await database.user(id).transaction(async (tx) => {
        requireRightToChange(callerOf(request), await users.getForUpdate(tx, id));
        const change = { isOwn: false, origin: originOf(request) };
        const isChanged = await preferences.change(tx, id, request.body, change);
        // A change that changes nothing only reads.
        if (!isChanged) requireScope(callerOf(request), 'users:read');
        return preferences.get(tx, id, { language, times: true });
      });
      return reply.send(view);
    },
  });
}
