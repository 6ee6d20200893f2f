/** The groups of operations in the document. `paths`: the beginnings of their paths. */
const groups = [
  { name: 'Tokens', description: 'Log in and out.', paths: ['/v1/login-options', '/v1/tokens'] },
  {
    name: 'Sessions',
    description: 'Short-lived tokens for all other operations.',
    paths: ['/v1/access-tokens', '/v1/revocations', '/v1/sessions'],
  },
  {
    name: 'Devices',
    description: 'The devices of a user, and their push tokens.',
    paths: ['/v1/devices', '/v1/push'],
  },
  {
    name: 'Account',
    description: 'Self-service for users.',
    paths: ['/v1/account', '/v1/recoveries', '/v1/recovery-cancellations', '/v1/registrations'],
  },
  {
    name: 'Notifications',
    description: 'The inbox of a user.',
    paths: ['/v1/notifications', '/v1/preferences', '/v1/topics'],
  },
  { name: 'Images', description: 'Images for notifications.', paths: ['/v1/images', '/images'] },
  {
    name: 'Administration',
    description: "For operators, support and the app's own servers.",
    paths: ['/admin/v1'],
  },
  {
    name: 'Webhooks',
    description: 'Events for other systems, sent by HTTP.',
    paths: ['/admin/v1/webhooks', '/.well-known/jwks.json'],
  },
  { name: 'Console', description: 'For the pages of the console: sign-in and set-up.', paths: ['/console'] },
  { name: 'Operation', description: 'Probes, and this document.', paths: ['/livez', '/readyz'] },
];

/** The tags of the document, in its order. */
export const tags = groups.map(({ name, description }) => ({ name, description }));

const paths = groups
  .flatMap(({ name, paths }) => paths.map((path) => ({ name, path })))
  .sort((a, b) => b.path.length - a.path.length);

/**
 * The tag of an operation.
 * @param url the path of its route
 * @throws Error if no group has the path
 */
export function tagOf(url: string): string {
  const found = paths.find(({ path }) => url === path || url.startsWith(`${path}/`));
  if (found === undefined) throw new Error(`${url} has no tag: add its path to openapi/tags.ts`);
  return found.name;
}
