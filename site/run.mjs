/**
 * `npm run docs`: installs what the site needs, if it is missing, builds the site, and serves it.
 * With `--build`, it stops after the build: the site is then in `site/built`.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, stage } from './stage.mjs';

const site = join(root, 'site');
const inSite = { cwd: site, stdio: 'inherit' };
const changedAt = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0);

if (changedAt(join(site, 'node_modules/.package-lock.json')) < changedAt(join(site, 'package-lock.json'))) {
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline', '--fetch-retries=5'], inSite);
}
stage(process.env.SITE_REPOSITORY || undefined);
const vitepress = join(site, 'node_modules/vitepress/bin/vitepress.js');
execFileSync(process.execPath, [vitepress, 'build'], inSite);
await writeApiReference();
if (!process.argv.includes('--build')) spawn(process.execPath, [vitepress, 'preview', '--host', '127.0.0.1'], inSite);

/** The page that the service shows at `/docs`, from the same code. */
async function writeApiReference() {
  execFileSync(process.execPath, [join(root, 'scripts/build.mjs')], inSite);
  const { referencePage, referenceScript, referenceStyle } = await import('../dist/tools.js');
  const folder = join(site, 'built/api');
  mkdirSync(folder, { recursive: true });
  const document = JSON.parse(readFileSync(join(root, 'docs/openapi.json'), 'utf8'));
  writeFileSync(
    join(folder, 'index.html'),
    referencePage(document, { files: '', documentUrl: '../openapi.json', home: '../index.html' }),
  );
  writeFileSync(join(folder, 'reference.css'), referenceStyle);
  writeFileSync(join(folder, 'reference.js'), referenceScript);
}
