// Takes screenshots of every page of the console, at 1280 and 390 px, light and dark, into console/pictures/ (not in git):
//   npm run console:pictures
//   npm run console:pictures -- overview sign-in    only these pages
//   npm run console:pictures -- --docs              also the pictures of the documents, in docs/images/
// Starts a separate service with example data. Needs Chromium in the path.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { fillWithExamples } from './lib/console-examples.mjs';
import { fillWithHistory } from './lib/console-history.mjs';
import { launchBrowser, openSecondFactor, setUp } from './lib/console-operator.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'console/pictures');
const key = 'admin-key-of-the-console-pictures-0123456789';
const sizes = { 1280: 800, 390: 844 };
/** The maximum height of the pictures in the documents. */
const maxGuideHeight = 1250;

/**
 * A picture. `entrance`: shown without a login. `guide`: its name in the documents. `prepare` brings the page into the state
 * of the picture. `hasSkeleton`: it shows the state of loading as an example.
 * @typedef {{ name: string, path: string, entrance?: boolean, guide?: string, hasSkeleton?: boolean, prepare?: (page: import('playwright-core').Page) => Promise<void> }} Picture
 * @param {string} link a set-up link that nobody has used
 * @returns {Picture[]}
 */
const pictures = (link) => [
  { name: 'sign-in', path: '/console', entrance: true },
  { name: 'set-up', path: link, entrance: true, guide: 'console-set-up', prepare: openSecondFactor },
  { name: 'set-up-used', path: '/console/setup#psu_', entrance: true },
  { name: 'overview', path: '/console', guide: 'console-overview' },
  { name: 'palette', path: '/console', prepare: (page) => page.keyboard.press('Control+k') },
  { name: 'shortcuts', path: '/console', prepare: (page) => page.keyboard.press('?') },
  { name: 'users', path: '/console/users' },
  { name: 'users-selected', path: '/console/users?q=garc', prepare: selectRows },
  { name: 'users-nobody', path: '/console/users?q=nobody%40example.com' },
  { name: 'users-import', path: '/console/users/import', prepare: checkFile },
  { name: 'user', path: '/console/users?q=grace', guide: 'console-user', prepare: openGrace },
  { name: 'user-erase', path: '/console/users?q=grace', prepare: askToErase },
  { name: 'user-addresses', path: '/console/users?q=grace', prepare: openAddresses },
  { name: 'login-check', path: '/console/users/login-check?value=nobody%40example.com' },
  { name: 'notifications', path: '/console/notifications', prepare: compose },
  { name: 'notifications-empty', path: '/console/notifications' },
  { name: 'notification', path: '/console/users?q=grace', prepare: openNotification },
  { name: 'publications', path: '/console/publications' },
  { name: 'publication', path: '/console/publications', prepare: openFirstPublication },
  { name: 'publication-new', path: '/console/publications/new?topic=club.chess', prepare: writePublication },
  { name: 'topics', path: '/console/topics' },
  { name: 'topic', path: '/console/topics/club.chess' },
  { name: 'topic-lines', path: '/console/topics/club.chess', prepare: pasteSubscriptions },
  { name: 'messages', path: '/console/messages' },
  { name: 'message', path: '/console/messages?state=all', prepare: openFirstDetail },
  { name: 'audit', path: '/console/audit' },
  { name: 'event', path: '/console/audit?type=user.locked', prepare: openFirstDetail },
  { name: 'webhooks', path: '/console/webhooks' },
  { name: 'webhook', path: '/console/webhooks', prepare: openLedger },
  { name: 'delivery', path: '/console/webhooks', prepare: openFailedDelivery },
  { name: 'blocks', path: '/console/access' },
  { name: 'test-identities', path: '/console/access', prepare: showTestIdentities },
  { name: 'keys', path: '/console/keys' },
  { name: 'backups', path: '/console/backups' },
  { name: 'system', path: '/console/system' },
  { name: 'parts', path: '/console/parts', hasSkeleton: true },
];

/** @param {import('playwright-core').Page} page */
async function openGrace(page) {
  await page.locator('tbody tr').first().press('Enter');
  await page.waitForURL(/users\/[0-9a-f-]{36}/);
  await page.getByText('Ada Lovelace paid you 12.50').click();
}

/** @param {import('playwright-core').Page} page */
async function openFirstPublication(page) {
  await page.locator('tbody tr').first().press('Enter');
  await page.getByText(/of about/).waitFor();
}

/** @param {import('playwright-core').Page} page */
async function writePublication(page) {
  await page.getByLabel('Description').fill('The tournament begins on Friday at six. Bring a clock.');
  await page.getByRole('radio', { name: 'At a time' }).check();
  await page
    .getByLabel('Date and time')
    .fill(`${new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10)}T09:00`);
  await page.getByRole('button', { name: 'Estimate' }).click();
  await page.getByText(/would get it/).waitFor();
}

/** @param {import('playwright-core').Page} page */
async function pasteSubscriptions(page) {
  await page.getByRole('button', { name: 'Paste a list…' }).click();
  await page.getByLabel('Users').fill('{"user_id": "username:ada"}\nada@example.com\nnobody\n');
}

/** @param {import('playwright-core').Page} page */
async function askToErase(page) {
  await openGrace(page);
  await page.locator('main').getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Erase…' }).click();
}

/** @param {import('playwright-core').Page} page */
async function openAddresses(page) {
  await openGrace(page);
  await page.getByRole('button', { name: 'Addresses…' }).click();
  await page.getByLabel('Phone', { exact: true }).fill('');
}

/** @param {import('playwright-core').Page} page */
async function openFirstDetail(page) {
  await page.locator('tbody tr').first().press('Enter');
  await page.waitForURL(/open=/);
}

/** @param {import('playwright-core').Page} page */
async function openLedger(page) {
  await page.locator('tbody tr', { hasText: 'The ledger' }).press('Enter');
  await page.waitForURL(/webhooks\/[0-9a-f-]{36}/);
}

/** @param {import('playwright-core').Page} page */
async function openFailedDelivery(page) {
  await page.locator('tbody tr', { hasText: 'The warehouse' }).press('Enter');
  await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
  await openFirstDetail(page);
}

/** @param {import('playwright-core').Page} page */
async function showTestIdentities(page) {
  await page.getByRole('radio', { name: 'Test identities' }).check();
}

/** @param {import('playwright-core').Page} page */
async function selectRows(page) {
  const rows = page.locator('tbody tr');
  for (const index of [1, 2, 4]) await rows.nth(index).press('x');
}

/** A notification in Arabic and one in English letters, with a dry run. @param {import('playwright-core').Page} page */
async function compose(page) {
  for (const name of ['grace', 'layla', 'maximiliana']) {
    await page.getByRole('combobox', { name: 'Find people to notify' }).fill(name);
    await page.getByRole('option').first().click();
  }
  await page.getByRole('radio', { name: 'request' }).check();
  await page.getByLabel('Key').fill('reminder');
  await page.getByLabel('Actor (title of the push)').fill('Ada Lovelace');
  await page.getByLabel('Number').fill('999999.99');
  const text =
    'Ada Lovelace asks you for 999,999.99 for “Summer house, Þingvellir”. Answer by Friday, or the pool closes.';
  await page.getByLabel('Description').fill(text);
  const preview = page.getByRole('button', { name: 'Show the preview' });
  if (await preview.isVisible()) await preview.click();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('nothing sent').waitFor();
}

/** @param {import('playwright-core').Page} page */
async function openNotification(page) {
  await openGrace(page);
  await page.getByRole('link', { name: 'Open', exact: true }).click();
  await page.getByRole('heading', { name: 'Delivery' }).waitFor();
}

/** @param {import('playwright-core').Page} page */
async function checkFile(page) {
  const lines = [
    'Nombre,Apellidos,Correo,Móvil,Contraseña,Nº de cliente',
    'Rosalind,Franklin,rosalind@example.com,+442079460123,$2b$10$Db6D7gmOnHbGgE5.oj/xneYCTKyHS0DOBpIGEfWyUHRJf7ODCAyCG,K-1042',
    'Chien-Shiung,Wu,wu@example.org,,,K-1043',
    'Grace,Hopper,grace@example.com,,,K-1044',
    'Hedy,Lamarr,hedy at example.com,,,K-1045',
    'Emmy,Noether,,+12,,K-1046',
    'Mary,"Jackson, born Winston",mary@example.com,+17575550142,,K-1047',
  ];
  const file = { name: 'clientes.csv', mimeType: 'text/csv', buffer: Buffer.from(lines.join('\r\n')) };
  await page.locator('input[type=file]').setInputFiles(file);
  await page.getByRole('button', { name: 'Check the file' }).click();
  await page.getByText('lines have errors').waitFor();
}

const program = join(root, 'dist/cli/bin.js');

/** @param {string} data DATA_DIR */
const environment = (data) => {
  const { PATH = '', HOME = '' } = process.env;
  const own = { PORT: '0', DATA_DIR: data, ADMIN_API_KEY: key, APP_NAME: 'Splitter', LOG_LEVEL: 'warn' };
  const more = { BACKUP_TO: join(data, 'backups'), ALLOW_PRIVATE_NETWORK_TARGETS: 'true' };
  return { PATH, HOME, ...own, ...more, LOGIN_LIMIT_PER_ADDRESS: '0' };
};

/** A service with an embedded database. @param {string} data DATA_DIR */
async function startService(data) {
  const child = spawn(process.execPath, [program, 'serve'], {
    ...{ cwd: data, env: environment(data), stdio: ['ignore', 'pipe', 'inherit'] },
  });
  let text = '';
  const url = await new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const ready = /^Postern is ready at (\S+)/m.exec(text)?.[1];
      if (ready !== undefined) resolve(ready);
    });
    child.on('close', () => reject(new Error(`the service ended: ${text}`)));
  });
  return { child, url: String(url) };
}

/** A server that receives webhooks. */
async function startReceiver() {
  const server = createServer((request, response) => {
    request.resume();
    response
      .writeHead(request.url === '/broken' ? 503 : 204)
      .end(request.url === '/broken' ? 'Down for an upgrade' : '');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${address.port}`, stop: () => server.close().closeAllConnections() };
}

/** Waits until the page makes no further requests. An open stream of events does not count. @param {import('playwright-core').Page} page */
async function waitUntilQuiet(page) {
  // An answer may have led to another request, such as for names.
  for (let times = 0; times < 2; times += 1) {
    const requests = await page.evaluate('performance.getEntriesByType("resource").length');
    await page.waitForTimeout(300);
    if (requests !== (await page.evaluate('performance.getEntriesByType("resource").length'))) times = 0;
  }
}

/** The path of a new set-up link. @param {string} data DATA_DIR */
function invite(data) {
  const options = { cwd: data, env: environment(data), encoding: /** @type {const} */ ('utf8') };
  const { url } = JSON.parse(execFileSync(process.execPath, [program, 'operators', 'invite', '--json'], options));
  const { pathname, hash } = new URL(url);
  return pathname + hash;
}

/**
 * @param {import('playwright-core').Browser} browser
 * @param {string} url
 * @param {Picture} picture
 * @param {Awaited<ReturnType<typeof setUp>>} cookies
 */
async function take(browser, url, { name, path, entrance = false, guide, hasSkeleton = false, prepare }, cookies) {
  for (const [width, height] of Object.entries(sizes).map(([text, value]) => [Number(text), value])) {
    for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
      const context = await browser.newContext({
        ...{ viewport: { width: width ?? 0, height: height ?? 0 }, colorScheme, locale: 'en', reducedMotion: 'reduce' },
      });
      if (!entrance) await context.addCookies(cookies);
      const page = await context.newPage();
      await page.goto(new URL(path, url).href);
      await page.waitForSelector('h1', { state: 'attached' });
      await prepare?.(page);
      if (!hasSkeleton) await page.getByText('Loading…').first().waitFor({ state: 'detached' });
      await waitUntilQuiet(page);
      // As high as the page, unless a dialog covers it.
      const isCovered = (await page.locator('dialog[open]').count()) > 0;
      const whole = await page.evaluate('document.documentElement.scrollHeight');
      if (!isCovered) await page.setViewportSize({ width: width ?? 0, height: Math.max(height ?? 0, Number(whole)) });
      const picture = await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`) });
      if (forDocs && guide !== undefined && width === 1280 && colorScheme === 'light') {
        await sharp(picture)
          .extract({ left: 0, top: 0, width, height: Math.min(Math.max(height ?? 0, Number(whole)), maxGuideHeight) })
          .png({ palette: true, colours: 64 })
          .toFile(join(root, 'docs/images', `${guide}.png`));
      }
      await context.close();
    }
  }
}

const only = process.argv.slice(2).filter((name) => name !== '--docs');
const forDocs = process.argv.includes('--docs');
const data = mkdtempSync(join(tmpdir(), 'postern-pictures-'));
mkdirSync(folder, { recursive: true });
const receiver = await startReceiver();
const { child, url } = await startService(data);
const browser = await launchBrowser();
try {
  const cookies = await setUp(browser, new URL(invite(data), url).href);
  await fillWithExamples(url, key, receiver.url);
  await fillWithHistory(data);
  for (const picture of pictures(invite(data))) {
    if (only.length > 0 && !only.includes(picture.name)) continue;
    await take(browser, url, picture, cookies);
    console.log(`${picture.name}: console/pictures/${picture.name}-*.png`);
  }
} finally {
  await browser.close();
  child.kill('SIGTERM');
  receiver.stop();
  await once(child, 'close');
  rmSync(data, { recursive: true });
}
