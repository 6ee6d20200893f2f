// Runs in a browser. Tests call its functions by `tab.` expressions, which work in every browser that a test can drive.
import * as client from '../../packages/client/src/index.js';

declare const location: { readonly origin: string };
declare function dispatchEvent(event: Event): boolean;
declare function addEventListener(
  type: 'securitypolicyviolation',
  listener: (event: { readonly effectiveDirective: string; readonly blockedURI: string }) => void,
): void;

let postern: client.Postern;
let inbox: client.Inbox;
let copy: client.InboxCopy;
let view: client.InboxView;
const connections: string[] = [];

export const tab = {
  /** What the live inbox has shown: texts of notifications, and states of the connection. */
  texts: [] as string[],
  connections: [] as string[],
  /** Violations of the content security policy. */
  reports: [] as string[],

  /** Makes the client. `kind`: where the login is kept. */
  async open(kind: 'tab' | 'all tabs', options: client.InboxOptions = {}) {
    const storage = kind === 'tab' ? client.memoryStorage() : client.indexedDbStorage();
    // A machine with many tests may take longer to answer than the default.
    postern = client.createPostern({ url: location.origin, storage, timeout: 60_000 });
    inbox = client.createInbox(postern, { workerUrl: '/worker.js', ...options });
    copy = client.createInboxCopy(postern, { limit: 3 });
    return (await postern.ready()).status;
  },
  async logIn(identity: string, password: string) {
    return (await client.createLogin(postern).start().password({ identity, password })).step;
  },
  logOut: () => postern.logOut(),
  /** @returns whose session it is */
  session: async () => (await postern.getSession({ fresh: true }))?.user_id,
  status: () => postern.current.status,

  /** Follows the inbox in the background. */
  follow() {
    void (async () => {
      for await (const event of inbox.live()) {
        if (event.type === 'connection') tab.connections.push(event.connection);
        if (event.type === 'put') tab.texts.push(event.notification.description);
      }
      tab.connections.push('ended');
    })().catch((error: unknown) => tab.connections.push(`${error}`));
    return true;
  },
  /** Shows a list that follows the inbox. */
  show() {
    view = client.createInboxView(postern, inbox);
    view.subscribe(({ connection }) => connections.push(connection));
  },
  shown: () => view.current.items.map(({ description }) => description),
  states: () => connections,
  /** How often the list has read what is new without a stream. */
  polls: () =>
    performance.getEntriesByType('resource').filter(({ name }) => name.includes('/v1/notifications/changes')).length,
  isLive: () => tab.connections.at(-1) === 'live',
  /** Ends pauses between attempts at once, as a browser does when it is online again. */
  hurry: () => void setInterval(() => dispatchEvent(new Event('online')), 5),

  /** @returns whether the copy in IndexedDB is up to date */
  sync: () =>
    copy.sync().then(
      () => true,
      () => false,
    ),
  /** What the copy has, and what Postern has, newest first. */
  async lists() {
    const listed = [];
    for await (const item of inbox.list({ limit: 100, sort: 'created_at:desc' })) listed.push(item);
    return [await copy.items(), listed.toSorted((one, other) => other.sequence - one.sequence)];
  },
};

addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
  tab.reports.push(`${effectiveDirective} ${blockedURI}`);
});
(globalThis as { tab?: typeof tab }).tab = tab;
