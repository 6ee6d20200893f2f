import { expect, it } from 'vitest';
import { parseHeader } from '../../../src/backups/container/header.js';

const header = {
  ...{ format: 1, kind: 'files', id: '0b0c5a4e-6a43-4b39-8d2a-3d2b4f1f0a11', created_at: '2026-11-23T12:00:00Z' },
  ...{ postern_version: '0.1.0', postgres_version: '15.13 (Debian 15.13-0+deb12u1)', system_id: '7000000000000000000' },
  ...{ secret_key_ids: ['01234567'], has_secret_key: false },
  archive: { id: '0123456789abcdef', lsn: '0/1A2B3C' },
};

it('a header is read', () => {
  expect(parseHeader(JSON.stringify(header))).toEqual(header);
  const dump = { ...header, kind: 'dump', system_id: '7000000000000000000.16384', pg_dump_version: '17.6' };
  expect(parseHeader(JSON.stringify(dump))).toEqual(dump);
});

it.each([
  ...['id', 'created_at', 'postern_version', 'postgres_version', 'pg_dump_version', 'system_id', 'installation'].map(
    (name) => [name, { [name]: 'x\u001b[2J' }] as const,
  ),
  ['the id of a key', { secret_key_ids: ['\u001b[2J'] }] as const,
  ['the id of the log archive', { archive: { id: '../../elsewhere', lsn: '0/1' } }] as const,
  ['a position', { archive: { id: '0123456789abcdef', lsn: '0/1\n' } }] as const,
])('a header with control characters or paths in it is refused: %s', (_name, change) => {
  expect(() => parseHeader(JSON.stringify({ ...header, ...change }))).toThrow('is not a backup of Postern');
});
