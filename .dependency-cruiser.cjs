// One rule per arrow of ARCHITECTURE.md:
//   main, cli -> http -> authentication | notifications -> database -> lib -> contract
// A folder imports itself and what its line names, nothing else of ours.
/** @type {Record<string, string[]>} */
const arrows = {
  contract: [],
  lib: ['contract'],
  database: ['lib', 'contract'],
  authentication: ['database', 'lib', 'contract'],
  notifications: ['database', 'lib', 'contract'],
  // The queue reads the database; everything else that delivers only calls out.
  delivery: ['database', 'lib', 'contract'],
  http: ['authentication', 'notifications', 'lib', 'contract'],
};

/**
 * What a folder may know the types of without running its code.
 * @type {Record<string, string[]>}
 */
const typesOnly = {
  // The interfaces that its consumers declare.
  delivery: ['authentication', 'notifications'],
  // The handle of a query or a transaction, which handlers pass on.
  http: ['database'],
};

/** @param {string[]} folders */
const inside = (folders) => `^src/(${folders.join('|')})/`;

const arrowRules = Object.entries(arrows).map(([folder, targets]) => ({
  name: `${folder}-imports-${targets.join('-') || 'nothing'}`,
  severity: 'error',
  from: { path: inside([folder]) },
  to: { path: '^(src|scripts|test)/', pathNot: inside([folder, ...targets, ...(typesOnly[folder] ?? [])]) },
}));

const typesOnlyRules = Object.entries(typesOnly).map(([folder, targets]) => ({
  name: `${folder}-knows-only-types-of-${targets.join('-')}`,
  severity: 'error',
  from: { path: inside([folder]) },
  to: { path: inside(targets), dependencyTypesNot: ['type-only', 'type-import'] },
}));

module.exports = {
  forbidden: [
    ...arrowRules,
    ...typesOnlyRules,
    {
      name: 'only-main-imports-delivery',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(main[a-z-]*\\.ts$|delivery/)' },
      to: { path: inside(['delivery']) },
    },
    {
      name: 'only-main-and-cli-import-config',
      comment: 'Everything else is handed typed values.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(main[a-z-]*\\.ts$|cli/|config)' },
      to: { path: '^src/config[a-z-]*\\.ts$' },
    },
    {
      name: 'config-imports-lib-contract',
      severity: 'error',
      from: { path: '^src/config[a-z-]*\\.ts$' },
      to: { path: '^(src|scripts|test)/', pathNot: `${inside(['lib', 'contract'])}|^src/config-` },
    },
    {
      name: 'acceptance-tests-see-no-source',
      comment: 'They are clients: plain fetch against a running service.',
      severity: 'error',
      from: { path: '^test/acceptance/' },
      to: { path: '^src/' },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolved-imports', severity: 'error', from: {}, to: { couldNotResolve: true } },
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
    exclude: { path: '^test/clients/' },
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'default'] },
    // Imports of types are arrows too.
    tsPreCompilationDeps: true,
    detectJSDocImports: false,
  },
};
