import { expect, it } from 'vitest';
import { exitCode, readAudit } from '../../scripts/ci/advisories.mjs';

const report = (...severities: string[]) =>
  JSON.stringify({
    vulnerabilities: Object.fromEntries(
      severities.map((severity) => [severity, { name: `a-${severity}-package`, severity, range: '<1.2.3' }]),
    ),
  });

it.each([
  ['no vulnerability', report(), { plain: 0, strict: 0 }],
  ['a moderate one', report('low', 'moderate'), { plain: 0, strict: 0 }],
  ['a high one', report('low', 'high'), { plain: 1, strict: 1 }],
  ['a critical one', report('critical'), { plain: 1, strict: 1 }],
  ['a registry that refuses', '{"message":"405 Method Not Allowed","error":{}}', { plain: 0, strict: 1 }],
  ['no answer', '', { plain: 0, strict: 1 }],
])('after %s, the check ends with the right code', (_, output, { plain, strict }) => {
  const audit = readAudit(output);
  expect([exitCode(audit, false), exitCode(audit, true)]).toEqual([plain, strict]);
});

it('each vulnerability is a line with its severity, package and versions', () => {
  expect(readAudit(report('high')).lines).toEqual(['high: a-high-package <1.2.3']);
});
