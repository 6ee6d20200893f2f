/**
 * Opens pages of the built site in Chromium, and fails if one breaks a rule of axe, is wider than a phone, asks another host
 * for something, or has an error in the browser. Also tries the search. `--pictures <folder>` keeps a picture of each page.
 */
import { createReadStream, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join, normalize } from 'node:path';
import { chromium } from 'playwright-core';
import { root } from './stage.mjs';

const built = join(root, 'site/built');
const pictures = process.argv[process.argv.indexOf('--pictures') + 1 || Number.POSITIVE_INFINITY];
if (pictures) mkdirSync(pictures, { recursive: true });
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json' };
types['.svg'] = 'image/svg+xml';
types['.png'] = 'image/png';

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, 'http://localhost');
  if (pathname === '/favicon.ico') return response.writeHead(204).end();
  const path = join(built, normalize(decodeURIComponent(pathname === '/' ? '/index.html' : pathname)));
  if (!existsSync(path)) return response.writeHead(404).end();
  response.setHeader('Content-Type', types[extname(path)] ?? 'application/octet-stream');
  createReadStream(path).pipe(response);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${server.address().port}`;

const names = ['chromium', 'chromium-browser', 'google-chrome'];
const program = process.env.PATH.split(':').flatMap((folder) => names.map((name) => join(folder, name)));
// The sandbox of Chromium needs rights that a container may lack.
const browser = await chromium.launch({
  executablePath: program.find((path) => existsSync(path)),
  args: ['--no-sandbox'],
});
const wrong = [];

/** Opens a page, and waits until its scripts handle keys and clicks. */
async function open(page, path) {
  page.setDefaultTimeout(120_000);
  await page.goto(`${origin}/${path}.html`, { waitUntil: 'load' });
  await page.waitForFunction(() => '__vue_app__' in (document.querySelector('#app') ?? {}));
}

/** @param pages paths without `.html` @param screen width, and `light` or `dark` */
async function look(pages, { width, scheme }) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme });
  await context.addInitScript(axe);
  const page = await context.newPage();
  let where = '';
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith('data:'))
      wrong.push(`${where}: asks ${request.url()}`);
  });
  page.on('console', (message) => message.type() === 'error' && wrong.push(`${where}: ${message.text()}`));
  page.on('pageerror', (error) => wrong.push(`${where}: ${error.message}`));
  for (const path of pages) {
    where = `${path} (${width} px, ${scheme})`;
    await open(page, path);
    const { violations } = await page.evaluate(() => globalThis.axe.run({ resultTypes: ['violations'] }));
    for (const { id, help, nodes } of violations)
      wrong.push(`${where}: ${id}: ${help}: ${nodes[0].html.slice(0, 200)}`);
    const tooWide = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    const joined = await page.evaluate(() =>
      [...document.querySelectorAll('.vp-doc :is(a, strong, em, code)')]
        .filter(({ nextSibling }) => /^(A|STRONG|EM|CODE)$/.test(nextSibling?.nodeName ?? ''))
        .map((element) => element.outerHTML + element.nextSibling.outerHTML),
    );
    for (const html of joined) wrong.push(`${where}: no space: ${html.slice(0, 200)}`);
    if (tooWide > 0) wrong.push(`${where}: ${tooWide} px too wide`);
    if (pictures)
      await page.screenshot({ path: join(pictures, `${path.replaceAll('/', '-')}-${width}-${scheme}.png`) });
  }
  await context.close();
}

async function search() {
  const page = await browser.newPage();
  await open(page, 'index');
  await page.keyboard.press('/');
  await page.locator('#localsearch-input').fill('restore a backup');
  await page.locator('.result').first().waitFor();
  const first = await page.locator('.result').first().getAttribute('href');
  if (!/backup/.test(first ?? '')) wrong.push(`search: "restore a backup" finds ${first}`);
  await page.close();
}

// The test of `/docs` asks axe about the page of the API.
const pages = ['index', 'concepts/tokens', 'guide', 'operations/backups', 'errors'];
await look(pages, { width: 1280, scheme: 'light' });
await look(pages.slice(0, 2), { width: 1280, scheme: 'dark' });
await look(pages.slice(1, 4), { width: 390, scheme: 'light' });
await search();
await browser.close();
server.close();
console.log(wrong.length === 0 ? 'The site is in order.' : wrong.join('\n'));
process.exitCode = wrong.length === 0 ? 0 : 1;
