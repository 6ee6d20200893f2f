import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { Crashed, NotFound } from './fallbacks.js';
import { parseQuery, queryOf, stringifyQuery } from './search.js';
import { Shell } from './shell.js';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: Crashed });

const overview = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => import('../pages/overview/overview.js'), 'Overview'),
});

const keys = createRoute({
  getParentRoute: () => root,
  path: '/keys',
  validateSearch: queryOf('q', 'cursor'),
  component: lazyRouteComponent(() => import('../pages/keys/keys.js'), 'Keys'),
});

const partsPage = createRoute({
  getParentRoute: () => root,
  path: '/parts',
  validateSearch: queryOf('q', 'state'),
  component: lazyRouteComponent(() => import('../pages/parts/parts.js'), 'Parts'),
});

/** All pages of the console. The code of each is loaded when it is opened, or when the pointer is over its link. */
export const router = createRouter({
  routeTree: root.addChildren([overview, keys, partsPage]),
  basepath: '/console',
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
