// The order of the folders of src/, from top to bottom. A folder imports only what stands below it.
const order = [
  ...['cli', 'app', 'http', 'delivery', 'webhooks', 'account', 'login', 'users', 'sessions', 'notifications'],
  ...['credentials', 'devices', 'identities', 'limits', 'messages', 'audit', 'statistics', 'backups'],
  ...['config', 'keys', 'embedded', 'schema', 'database', 'lib', 'contract'],
];

/** Who users are, and what they did. Knows nothing of their notifications. */
const identitySide = [
  ...['account', 'login', 'users', 'sessions', 'credentials', 'devices', 'identities', 'limits', 'messages', 'audit'],
];

/**
 * What stands below a folder, but is not for it.
 * @type {Record<string, string[]>}
 */
const exceptions = {
  // Everything but these two gets typed values instead.
  ...Object.fromEntries(
    order.filter((folder) => !['cli', 'app'].includes(folder)).map((folder) => [folder, ['config']]),
  ),
};
exceptions.cli = ['delivery'];
exceptions.config = ['keys', 'embedded', 'schema', 'database'];
exceptions.http = ['config', 'delivery', 'keys', 'embedded', 'schema'];
for (const folder of identitySide) exceptions[folder] = ['config', 'notifications'];
exceptions.notifications = ['config', ...identitySide];

/**
 * What a folder may know the types of without running its code.
 * @type {Record<string, string[]>}
 */
const typesOnly = {
  // The interfaces that its consumers declare.
  delivery: ['notifications', ...identitySide],
  // The handle of a query or a transaction, which handlers pass on.
  http: ['database'],
};

/** @param {string[]} folders */
const inside = (folders) => `^src/(${folders.join('|')})/`;

const layerRules = order.map((folder, place) => {
  const below = order.slice(place).filter((other) => !(exceptions[folder] ?? []).includes(other));
  return {
    name: `${folder}-imports-only-what-is-below`,
    severity: 'error',
    from: { path: inside([folder]) },
    to: { path: '^(src|scripts|test)/', pathNot: inside([folder, ...below]) },
  };
});

const typesOnlyRules = Object.entries(typesOnly).map(([folder, targets]) => ({
  name: `${folder}-imports-only-types-of-${folder === 'http' ? 'database' : 'its-consumers'}`,
  severity: 'error',
  from: { path: inside([folder]) },
  to: { path: inside(targets), dependencyTypesNot: ['type-only', 'type-import'] },
}));

/** What the framework of an app brings. The adapters of packages/server import it, and their packages declare its types. */
const ofTheApp = '^next/headers[.]js$';

module.exports = {
  forbidden: [
    ...layerRules,
    ...typesOnlyRules,
    {
      name: 'every-folder-has-a-place',
      comment: 'A new folder of src/ goes into the order above. tools.ts collects parts for scripts from all of them.',
      severity: 'error',
      from: { path: '^src/', pathNot: [inside(order), '^src/tools\\.ts$'] },
      to: {},
    },
    {
      name: 'acceptance-tests-import-no-source',
      comment: 'They are clients: plain fetch against a running service.',
      severity: 'error',
      from: { path: '^test/acceptance/' },
      to: { path: '^src/' },
    },
    {
      name: 'packages-import-only-themselves',
      comment: 'They are published without the service. All of them may use the client. The package react uses React.',
      severity: 'error',
      from: { path: '^packages/([^/]+)/src/' },
      to: {
        pathNot: `^packages/($1/src/|client/src/(index|internal)[.]ts$)|^node_modules/$1/|${ofTheApp}`,
        dependencyTypesNot: ['core'],
      },
    },
    {
      name: 'packages-run-everywhere',
      comment: 'Only what starts processes for tests needs the platform of Node.js.',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/', pathNot: '^packages/server/src/testing/' },
      to: { dependencyTypes: ['core'] },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolved-imports', severity: 'error', from: {}, to: { couldNotResolve: true, pathNot: ofTheApp } },
    {
      name: 'source-needs-no-development-packages',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // It imports what is generated when it runs.
    exclude: { path: '^test/clients/|/dist/' },
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'default'] },
    // Imports of types count too.
    tsPreCompilationDeps: true,
    detectJSDocImports: false,
  },
};
