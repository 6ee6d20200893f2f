// Asks the registry of npm whether published packages that Postern runs with have known vulnerabilities. It fails if one is
// high or critical. Others are printed: docs/security-tables.md says by when each is mended.
// If the registry does not answer, it prints "not checked" and passes, except with --strict, as every night.
import { spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';

/** @param {string} output of `npm audit --json` @returns {{ checked: boolean, lines: string[], serious: boolean }} */
export function readAudit(output) {
  let report;
  try {
    report = JSON.parse(output);
  } catch {
    report = undefined;
  }
  const found = report?.vulnerabilities;
  if (found === undefined) return { checked: false, lines: [], serious: false };
  const all = Object.values(found);
  return {
    checked: true,
    lines: all.map(({ name, severity, range }) => `${severity}: ${name} ${range}`),
    serious: all.some(({ severity }) => severity === 'high' || severity === 'critical'),
  };
}

/** @param {{ checked: boolean, serious: boolean }} audit @param {boolean} isStrict */
export function exitCode({ checked, serious }, isStrict) {
  return serious || (isStrict && !checked) ? 1 : 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { stdout } = spawnSync('npm', ['audit', '--json', '--omit=dev'], { encoding: 'utf8' });
  const audit = readAudit(stdout);
  for (const line of audit.lines) console.log(line);
  if (!audit.checked) console.log('not checked: the registry does not answer questions about vulnerabilities');
  else if (audit.lines.length === 0) console.log('no known vulnerabilities');
  process.exitCode = exitCode(audit, process.argv.includes('--strict'));
}
