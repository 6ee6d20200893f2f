/**
 * The sections of the site, with their pages in `docs/`, without `.md`. A test wants each page of `docs/` here or in `unlisted`.
 * The title of a page is its heading.
 */
export const sections = [
  {
    text: 'Start',
    pages: ['index', 'quickstart', 'guide', 'frameworks', 'web-apps', 'questions', 'what-postern-does-not-do'],
  },
  {
    text: 'Recipes',
    pages: [
      'recipes',
      'recipes/log-out-everywhere',
      'recipes/remember-me',
      'recipes/failing-sms',
      'recipes/openapi-clients',
      'recipes/reminder',
      'recipes/digest',
      'recipes/quiet-hours',
      'recipes/move',
    ],
  },
  {
    text: 'Concepts',
    pages: [
      'concepts/tokens',
      'concepts/guesses',
      'concepts/re-authentication',
      'concepts/inbox',
      'concepts/deliveries',
    ],
  },
  {
    text: 'Reference',
    groups: [
      {
        text: 'Users and logins',
        pages: [
          'account',
          'sign-up',
          'pages',
          'second-factors',
          'providers',
          'providers/google',
          'providers/apple',
          'providers/microsoft',
          'providers/github',
          'providers/others',
          'authenticators',
          'access-tokens',
        ],
      },
      {
        text: 'Notifications',
        pages: ['notifications-people-want', 'notifications', 'bulk', 'webhooks', 'webhook-events', 'templates'],
      },
      { text: 'Packages', pages: ['client', 'react', 'elements', 'server'] },
      { text: 'Lists', pages: ['errors', 'configuration'], api: true },
      { text: 'Security', pages: ['security', 'security-tables', 'asvs'] },
    ],
  },
  {
    text: 'Operate',
    groups: [
      {
        text: 'Set up',
        pages: ['operations', 'operations/install', 'proxies', 'operations/database', 'operations/messages', 'console'],
      },
      {
        text: 'Every day',
        pages: [
          'operations/users',
          'support-logins',
          'operations/import',
          'operations/access',
          'operations/audit',
          'operations/monitor',
          'operations/incidents',
        ],
      },
      {
        text: 'Keep and grow',
        pages: [
          'operations/backups',
          'operations/upgrade',
          'operations/scale',
          'operations/failover',
          'operations/secret-key',
          'scaling',
          'releases',
          'changelog',
        ],
      },
    ],
  },
];

/** Pages for people who change Postern: the site has them, but they are in no menu. */
export const unlisted = [/^decisions\//];

/** Pages from outside of `docs/`, by their name on the site. */
export const fromElsewhere = { security: 'SECURITY.md', changelog: 'CHANGELOG.md', benchmarks: 'bench/RESULTS.md' };

/** All pages of a section, in order. */
export const pagesOf = (section) => [...(section.pages ?? []), ...(section.groups ?? []).flatMap(pagesOf)];
