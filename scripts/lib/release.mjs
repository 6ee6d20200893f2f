/** What a release checks before it packs anything, and its notes. */

/**
 * The reasons why a release cannot be made.
 * @param {{ version: string, tag: string | undefined, isDryRun: boolean, versions: Record<string, string | undefined>, changelog: string }} release
 *   versions: of everything that must have the version of the service
 * @returns {string[]}
 */
export function problemsOf({ version, tag, isDryRun, versions, changelog }) {
  const problems = [];
  if (tag !== `v${version}`) problems.push(`the tag is ${tag}, but package.json has the version ${version}`);
  for (const [place, found] of Object.entries(versions)) {
    if (found !== version) problems.push(`${place} has the version ${found}, and not ${version}`);
  }
  const sections = sectionsOf(changelog);
  // A dry run is made before the day of the release is known.
  const section = sections.get(version) ?? (isDryRun ? sections.get('Unreleased') : undefined);
  if (section === undefined) problems.push(`CHANGELOG.md has no section ## [${version}] with a date`);
  else if (inShort(section) === undefined)
    problems.push('the section of CHANGELOG.md has no "### In short", which becomes the notes');
  return problems;
}

/** The notes of a release: what its section of the changelog says in short. @param {string} changelog @param {string} version */
export function notesOf(changelog, version) {
  const sections = sectionsOf(changelog);
  const section = sections.get(version) ?? sections.get('Unreleased') ?? '';
  // Links of the changelog are relative to the project. The notes are elsewhere.
  const text = (inShort(section) ?? '').replaceAll(/\[([^\]]+)\]\((?!https?:)[^)]+\)/g, '$1');
  return `${text}\n\nAll changes: CHANGELOG.md. Which package works with which service: docs/releases.md.\n`;
}

/** The sections by version. Those of releases have a date. @param {string} changelog */
function sectionsOf(changelog) {
  const parts = changelog.split(/^## /m).slice(1);
  return new Map(
    parts.flatMap((part) => {
      const [, name = ''] = /^\[([^\]]+)\](?: - \d{4}-\d\d-\d\d$|$)/m.exec(part.split('\n', 1)[0] ?? '') ?? [];
      return name === '' ? [] : [/** @type {const} */ ([name, part])];
    }),
  );
}

/** @param {string} section */
function inShort(section) {
  return /^### In short\n+([\s\S]*?)(?=\n+###? |$(?![\s\S]))/m.exec(section)?.[1]?.trim();
}
