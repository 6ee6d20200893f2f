import { dirname } from 'node:path';

/**
 * Finds folders that import each other, directly or through other folders, at every depth. A folder means the files directly
 * in it, so a cycle between a folder and its subfolder counts too.
 *
 * @param {readonly { source: string, dependencies: readonly { resolved: string }[] }[]} modules
 * @returns {string[][]} one shortest cycle for each group of folders; its first folder is repeated at the end
 */
export function folderCycles(modules) {
  /** @type {Map<string, Set<string>>} */
  const imports = new Map();
  for (const { source, dependencies } of modules) {
    const from = dirname(source);
    const to = imports.get(from) ?? new Set();
    imports.set(from, to);
    for (const { resolved } of dependencies) {
      if (resolved.startsWith('src/') && dirname(resolved) !== from) to.add(dirname(resolved));
    }
  }
  const cycles = [];
  const seen = new Set();
  for (const folder of [...imports.keys()].sort()) {
    if (seen.has(folder)) continue;
    const cycle = shortestCycle(imports, folder);
    if (cycle === undefined) continue;
    for (const member of cycle) seen.add(member);
    cycles.push(cycle);
  }
  return cycles;
}

/**
 * @param {Map<string, Set<string>>} imports
 * @param {string} start
 * @returns {string[] | undefined}
 */
function shortestCycle(imports, start) {
  /** @type {string[][]} */
  const paths = [[start]];
  const reached = new Set();
  for (const path of paths) {
    for (const next of imports.get(path.at(-1) ?? start) ?? []) {
      if (next === start) return [...path, start];
      if (reached.has(next)) continue;
      reached.add(next);
      paths.push([...path, next]);
    }
  }
  return undefined;
}
