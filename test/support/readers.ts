import { expect } from 'vitest';
import type { Notification } from '../../src/contract/notification.js';
import type { User } from '../../src/contract/user.js';
import type { ApiOptions, TestApp } from './app.js';
import { createUser, signIn } from './users.js';

/** A user who is signed in. */
export interface Reader {
  readonly user: User;
  readonly token: string;
}

/** The steps of tests of inboxes. */
export function readersOf(app: () => TestApp) {
  return {
    async createReader(): Promise<Reader> {
      const user = await createUser(app());
      const { session } = await signIn(app(), user);
      return { user, token: session.token };
    },
    /** Publishes an array. Adds missing members to each item. */
    async publish(user: User, items: readonly object[]): Promise<Notification[]> {
      const body = items.map((item) => ({ user_id: user.id, notification_type: 'payment', description: 'x', ...item }));
      const answer = await app().api<Notification[]>('POST', '/admin/v1/notifications', {
        bearer: app().adminKey,
        body,
      });
      expect(answer.status).toBe(201);
      return answer.body;
    },
    get: <Body = Notification[]>(reader: Reader, query: Record<string, string> = {}, options: ApiOptions = {}) =>
      app().api<Body>('GET', `/v1/notifications?${new URLSearchParams(query)}`, { bearer: reader.token, ...options }),
  };
}

/** Parses Link as published clients do: entries end at every comma, parameters at every `; `. */
export function linksOf(header: string | undefined): Record<string, string> {
  return Object.fromEntries(
    (header ?? '').split(',').map((entry) => {
      const [reference = '', relation = ''] = entry.split('; ');
      return [relation.slice('rel="'.length, -1), reference.slice(1, -1)];
    }),
  );
}

/** A number of notifications, whose descriptions are their numbers from 0. */
export function some(count: number, fields: object = {}): object[] {
  return Array.from({ length: count }, (_, n) => ({ description: `${n}`, ...fields }));
}

export const idsOf = (items: readonly Notification[]): string[] => items.map(({ id }) => id);
