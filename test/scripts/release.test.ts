import { expect, test } from 'vitest';
import { readPage } from '../docs/markdown.js';

interface Release {
  problemsOf(release: {
    version: string;
    tag: string | undefined;
    isDryRun: boolean;
    versions: Record<string, string | undefined>;
    changelog: string;
  }): string[];
  notesOf(changelog: string, version: string): string;
}
const { problemsOf, notesOf } = (await import(
  new URL('../../scripts/lib/release.mjs', import.meta.url).href
)) as Release;

const changelog = `# Changelog

## [Unreleased]

### In short

- It flies ([how](docs/fly.md)).

### Added

- Wings.

## [0.1.0] - 2026-12-01

### In short

The first one.
`;
const good = { version: '0.1.0', tag: 'v0.1.0', isDryRun: false, versions: { client: '0.1.0' }, changelog };

test('a release whose versions, tag and changelog agree has no problem', () => {
  expect(problemsOf(good)).toEqual([]);
});

test('a release says everything that does not agree', () => {
  expect(problemsOf({ ...good, tag: 'v0.1.1', versions: { client: '0.0.9', chart: undefined } })).toEqual([
    'the tag is v0.1.1, but package.json has the version 0.1.0',
    'client has the version 0.0.9, and not 0.1.0',
    'chart has the version undefined, and not 0.1.0',
  ]);
  const next = { ...good, version: '0.2.0', tag: 'v0.2.0', versions: {} };
  expect(problemsOf(next)).toEqual(['CHANGELOG.md has no section ## [0.2.0] with a date']);
  expect(problemsOf({ ...next, isDryRun: true })).toEqual([]);
  const withoutSummary = { ...good, changelog: '## [0.1.0] - 2026-12-01\n\n### Added\n\n- Wings.\n' };
  expect(problemsOf(withoutSummary)).toEqual([
    'the section of CHANGELOG.md has no "### In short", which becomes the notes',
  ]);
});

test('the notes are the summary, without links that lead nowhere', () => {
  expect(notesOf(changelog, '0.1.0')).toMatch(/^The first one\.\n\nAll changes/);
  expect(notesOf(changelog, '0.2.0')).toMatch(/^- It flies \(how\)\.\n\nAll changes/);
});

test('the changelog of the project has such a summary', () => {
  const notes = notesOf(readPage('CHANGELOG.md'), '0.1.0');
  expect(notes.split('\n').length).toBeGreaterThan(8);
  expect(notes.split('\n').length).toBeLessThan(60);
});

test('the workflow publishes what the script makes, with provenance', () => {
  const workflow = readPage('.github/workflows/release.yml');
  expect(workflow).toContain('npm run release --');
  expect(workflow).toContain('--provenance');
  expect(workflow).toContain('id-token: write');
  expect(workflow).toContain('--sbom=');
});

test('the workflow runs only images with a digest, and logs in to the registry after them', () => {
  const image =
    readPage('.github/workflows/release.yml')
      .split(/^ {2}(?=\w+:$)/m)
      .find((job) => job.startsWith('image:')) ?? '';
  const steps = image.split('\n      - ');
  const indexOf = (text: string) => steps.findIndex((step) => step.includes(text));
  const helpers = ['docker run --privileged', '--driver-opt image=', '--sbom=generator='];
  for (const helper of helpers) expect(steps[indexOf(helper)]).toMatch(/[\w./:-]+@sha256:[0-9a-f]{64}/);
  expect(image.match(/docker run|buildx create|--sbom/g)).toHaveLength(helpers.length);
  expect(indexOf('docker login')).toBeGreaterThan(indexOf('docker run --privileged'));
  expect(indexOf('docker login')).toBeGreaterThan(indexOf('docker buildx create'));
  // It must run before the login, and not with the first build after it.
  expect(steps[indexOf('docker buildx create')]).toContain('--bootstrap');
});
