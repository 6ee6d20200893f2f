import type { Answer, Client, Notification, User } from './client.js';

/** A user with a session. */
export interface Reader {
  readonly user: User;
  readonly bearer: string;
}

export const textsOf = ({ body }: Answer<Notification[]>) => body.map(({ description }) => description);
/** `count` notifications described as 1, 2, 3 … */
export const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ description: String(index + 1) }));

/** Publishes to one user, and reads as that user. */
export function createInbox(client: Client) {
  return {
    async newReader(): Promise<Reader> {
      const { user, session } = await client.signIn(await client.createUser());
      return { user, bearer: session.token };
    },
    /** Publishes in one request, in this order. */
    publish: ({ user }: Reader, items: readonly object[]) =>
      client.publish(
        items.map((item) => ({ user_id: user.id, notification_type: 'payment', description: 'x', ...item })),
      ),
    change: (notification: Notification | undefined, change: object) =>
      client.admin<Notification>('PATCH', `/notifications/${notification?.id}`, change),
    /** @param query the query of the URL, or its decoded parameters */
    list<Body = Notification[]>({ bearer }: Reader, query: string | Record<string, string> = '', headers = {}) {
      const text = typeof query === 'string' ? query : new URLSearchParams(query).toString();
      return client.send<Body>('GET', `/v1/notifications${text === '' ? '' : `?${text}`}`, { bearer, headers });
    },
  };
}
