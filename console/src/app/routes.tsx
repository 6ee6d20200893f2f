import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import { rootPath } from '../lib/root.js';
import { members as checkMembers } from '../pages/login-check/query.js';
import { members as userMembers } from '../pages/user/query.js';
import { members as usersMembers } from '../pages/users/query.js';
import { Crashed, NotFound } from './fallbacks.js';
import { lazyPage } from './lazy-page.js';
import { parseQuery, queryWith, stringifyQuery } from './search.js';
import { Shell } from './shell.js';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: Crashed });

const overview = createRoute({
  getParentRoute: () => root,
  path: '/',
  validateSearch: queryWith('span'),
  component: lazyPage(() => import('../pages/overview/overview.js'), 'Overview'),
});

const access = createRoute({
  getParentRoute: () => root,
  path: '/access',
  validateSearch: queryWith('view', 'q'),
  component: lazyPage(() => import('../pages/access/access.js'), 'Access'),
});

const keys = createRoute({
  getParentRoute: () => root,
  path: '/keys',
  validateSearch: queryWith('q'),
  component: lazyPage(() => import('../pages/keys/keys.js'), 'Keys'),
});

const audiences = createRoute({
  getParentRoute: () => root,
  path: '/audiences',
  validateSearch: queryWith('q'),
  component: lazyPage(() => import('../pages/audiences/audiences.js'), 'Audiences'),
});

const partsPage = createRoute({
  getParentRoute: () => root,
  path: '/parts',
  validateSearch: queryWith('q', 'state'),
  component: lazyPage(() => import('../pages/parts/parts.js'), 'Parts'),
});

const users = createRoute({
  getParentRoute: () => root,
  path: '/users',
  validateSearch: queryWith(...usersMembers),
  component: lazyPage(() => import('../pages/users/users.js'), 'Users'),
});

const notifications = createRoute({
  getParentRoute: () => root,
  path: '/notifications',
  validateSearch: queryWith('view', 'id', 'to'),
  component: lazyPage(() => import('../pages/notifications/notifications.js'), 'Notifications'),
});

const importUsers = createRoute({
  getParentRoute: () => root,
  path: '/users/import',
  component: lazyPage(() => import('../pages/import/import.js'), 'ImportUsers'),
});

const loginCheck = createRoute({
  getParentRoute: () => root,
  path: '/users/login-check',
  validateSearch: queryWith(...checkMembers),
  component: lazyPage(() => import('../pages/login-check/login-check.js'), 'LoginCheck'),
});

const messages = createRoute({
  getParentRoute: () => root,
  path: '/messages',
  validateSearch: queryWith('state', 'channel', 'user', 'recipient', 'open'),
  component: lazyPage(() => import('../pages/messages/messages.js'), 'Messages'),
});

const publications = createRoute({
  getParentRoute: () => root,
  path: '/publications',
  validateSearch: queryWith('status'),
  component: lazyPage(() => import('../pages/publications/publications.js'), 'Publications'),
});

const newPublication = createRoute({
  getParentRoute: () => root,
  path: '/publications/new',
  validateSearch: queryWith('topic'),
  component: lazyPage(() => import('../pages/publications/new-publication.js'), 'NewPublicationPage'),
});

const publication = createRoute({
  getParentRoute: () => root,
  path: '/publications/$id',
  validateSearch: queryWith('view'),
  component: lazyPage(() => import('../pages/publications/publication.js'), 'PublicationPage'),
});

const topics = createRoute({
  getParentRoute: () => root,
  path: '/topics',
  validateSearch: queryWith('q', 'open'),
  component: lazyPage(() => import('../pages/topics/topics.js'), 'Topics'),
});

const topic = createRoute({
  getParentRoute: () => root,
  path: '/topics/$key',
  validateSearch: queryWith('q'),
  component: lazyPage(() => import('../pages/topics/topic.js'), 'TopicPage'),
});

const categories = createRoute({
  getParentRoute: () => root,
  path: '/categories',
  validateSearch: queryWith('q'),
  component: lazyPage(() => import('../pages/categories/categories.js'), 'Categories'),
});

const category = createRoute({
  getParentRoute: () => root,
  path: '/categories/$name',
  component: lazyPage(() => import('../pages/categories/category.js'), 'CategoryPage'),
});

const suppressions = createRoute({
  getParentRoute: () => root,
  path: '/suppressions',
  validateSearch: queryWith('reason'),
  component: lazyPage(() => import('../pages/suppressions/suppressions.js'), 'Suppressions'),
});

const webhooks = createRoute({
  getParentRoute: () => root,
  path: '/webhooks',
  validateSearch: queryWith('q'),
  component: lazyPage(() => import('../pages/webhooks/webhooks.js'), 'Webhooks'),
});

const webhook = createRoute({
  getParentRoute: () => root,
  path: '/webhooks/$id',
  validateSearch: queryWith('state', 'type', 'user', 'open'),
  component: lazyPage(() => import('../pages/webhooks/webhook.js'), 'WebhookPage'),
});

const audit = createRoute({
  getParentRoute: () => root,
  path: '/audit',
  validateSearch: queryWith('type', 'user', 'actor', 'address', 'request', 'from', 'to', 'open', 'live'),
  component: lazyPage(() => import('../pages/audit/audit.js'), 'Audit'),
});

const backups = createRoute({
  getParentRoute: () => root,
  path: '/backups',
  component: lazyPage(() => import('../pages/backups/backups.js'), 'Backups'),
});
const providers = createRoute({
  getParentRoute: () => root,
  path: '/providers',
  component: lazyPage(() => import('../pages/providers/providers.js'), 'Providers'),
});
const system = createRoute({
  getParentRoute: () => root,
  path: '/system',
  component: lazyPage(() => import('../pages/system/system.js'), 'SystemPage'),
});

const user = createRoute({
  getParentRoute: () => root,
  path: '/users/$id',
  validateSearch: queryWith(...userMembers),
  component: lazyPage(() => import('../pages/user/user.js'), 'UserPage'),
});

/** All pages of the console. The code of each is loaded when it is opened, or when the pointer is over its link. */
export const router = createRouter({
  routeTree: root.addChildren([
    overview,
    users,
    importUsers,
    loginCheck,
    notifications,
    messages,
    publications,
    newPublication,
    publication,
    topics,
    topic,
    categories,
    category,
    suppressions,
    webhooks,
    webhook,
    audit,
    access,
    keys,
    audiences,
    providers,
    backups,
    system,
    partsPage,
    user,
  ]),
  basepath: `${rootPath}/console`,
  parseSearch: parseQuery,
  stringifySearch: stringifyQuery,
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
