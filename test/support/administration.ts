import type { Event } from '../../src/contract/administration.js';
import type { User } from '../../src/contract/user.js';
import type { ApiOptions, ProblemAnswer, TestApp } from './app.js';

/** The steps of tests of the admin API, with the key that has every scope. */
export function createAdministration(current: () => TestApp) {
  const admin = <Body = User>(method: string, path: string, body?: unknown, options: ApiOptions = {}) =>
    current().api<Body>(method, `/admin/v1${path}`, {
      bearer: current().adminKey,
      ...(body !== undefined && { body }),
      ...options,
    });
  return {
    admin,
    /** The status of an error, and its field errors. */
    async refused(method: string, path: string, body?: unknown) {
      const answer = await admin<ProblemAnswer>(method, path, body);
      return { status: answer.status, errors: answer.body.errors.map(({ field, code }) => [field, code]) };
    },
    isValid: async (session: string) =>
      (await current().api('POST', '/v1/sessions/verify', { bearer: session })).status === 200,
    /** The events of a user, oldest first. */
    eventsOf: async (id: string) => (await admin<Event[]>('GET', `/users/${id}/activity?sort=created_at:asc`)).body,
  };
}
