import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Audience, SigningKey } from '../../../src/contract/access-token.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';
import { openPublicAddress, type PublicAddress } from '../../support/public-address.js';
import { createUser } from '../../support/users.js';

let postern: TestApp;
let browser: Browser;
/** Audiences need PUBLIC_URL, and the console compares it with its origin. */
let address: PublicAddress;
beforeAll(async () => {
  address = await openPublicAddress();
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', PUBLIC_URL: address.url });
  address.service = postern.url;
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await postern?.close();
  address?.close();
});

const { open, admin, operator } = createConsolePages(
  () => ({ ...postern, url: address.url }),
  () => browser,
);
const audienceOf = async (uri: string) =>
  (await admin<Audience[]>('GET', '/audiences?limit=100')).body.find((audience) => audience.uri === uri);
const row = (page: Page, name: string) => page.getByRole('row', { name: new RegExp(name) });

test('an operator creates, changes and deletes an audience, and sees the keys that sign', async () => {
  const uri = 'https://api.example.com';
  const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = await open('/console/audiences', {
    as: await operator(),
  });
  await page.getByText('No audience yet').waitFor();
  await page.getByText('The first audience creates them.').waitFor();
  await page.getByRole('button', { name: 'New audience…' }).click();
  const create = page.getByRole('button', { name: 'Create the audience' });
  expect(await create.isDisabled()).toBe(true);
  const address = page.getByLabel('Address of the service');
  const seconds = page.getByLabel('Lifetime in seconds');
  await address.fill('not an address');
  await seconds.fill('30');
  await create.click();
  await expect.poll(() => address.getAttribute('aria-invalid')).toBe('true');
  await expect.poll(() => seconds.getAttribute('aria-invalid')).toBe('true');
  await expectAccessible();
  await address.fill(uri);
  await seconds.fill('600');
  await page.getByLabel('The roles that your app gave the user').check();
  await page.getByLabel('Claims').fill('plan, team plan');
  await create.click();
  await row(page, uri).waitFor();
  expect(await audienceOf(uri)).toMatchObject({
    ...{ alg: 'ES256', ttl: 600, roles: true, claims: ['plan', 'team'], support: false },
  });
  const { body: keys } = await admin<SigningKey[]>('GET', '/signing-keys');
  const shown = page.getByRole('list', { name: 'Signing keys' });
  await shown.getByText('Signs', { exact: true }).waitFor();
  expect(await shown.getByRole('listitem').count()).toBe(keys.length);

  await row(page, uri).click();
  await page.getByLabel('Claims').fill('');
  await page.getByLabel('Algorithm').selectOption('RS256');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect.poll(async () => (await audienceOf(uri))?.alg).toBe('RS256');
  expect(await audienceOf(uri)).toMatchObject({ ttl: 600, roles: true, claims: [] });
  await shown.getByText('RS256').first().waitFor();

  await row(page, uri).click();
  await page.getByRole('button', { name: 'Delete…' }).click();
  const remove = page.getByRole('button', { name: 'Delete the audience' });
  expect(await remove.isDisabled()).toBe(true);
  await page.getByRole('textbox', { name: `Type ${uri} to confirm` }).fill(uri);
  await remove.click();
  await page.getByText('No audience yet').waitFor();
  expect(await audienceOf(uri)).toBeUndefined();
  await expectNoErrorsOrSidewaysScroll();
});

test('an address that is taken is explained at its field, and the list finds a part of an address, on a phone in Spanish', async () => {
  const names = ['https://one.example.com', 'https://two.example.com/a?b=c;d'];
  for (const uri of names) await admin('POST', '/audiences', { uri });
  const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = await open('/console/audiences?q=c;d', {
    ...{ as: await operator(), width: 390, language: 'es' },
  });
  await page.getByText('two.example.com').filter({ visible: true }).waitFor();
  expect(await page.getByText('one.example.com').count()).toBe(0);
  await expectAccessible();
  await page.getByRole('button', { name: 'Audiencia nueva…' }).click();
  await page.getByLabel('Dirección del servicio').fill(names[0] ?? '');
  await page.getByRole('button', { name: 'Crear la audiencia' }).click();
  await page.getByText('Ya hay una audiencia con esta dirección.').waitFor();
  await expectNoErrorsOrSidewaysScroll();
});

test('an operator who saves an audience sees whose roles and claims do not fit into a token, until it fits', async () => {
  const user = await createUser(postern, { claims: { about: 'x'.repeat(900), plan: 'pro' } });
  const uri = 'https://small.example.com';
  await admin('POST', '/audiences', { uri });
  const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = await open('/console/audiences?q=small', {
    ...{ as: await operator(), width: 390 },
  });
  const save = async (claims: string) => {
    // The warning names it, too.
    await page.getByText(uri).filter({ visible: true }).last().click();
    await page.getByLabel('Claims').fill(claims);
    await page.getByRole('button', { name: 'Save' }).click();
  };
  await save('plan, about');
  const link = page.getByRole('status').getByRole('link', { name: user.id });
  await link.waitFor();
  await expectAccessible();
  await save('plan');
  await link.waitFor({ state: 'detached' });
  await save('about');
  await link.click();
  await page.waitForURL(`**/console/users/${user.id}`);
  await expectNoErrorsOrSidewaysScroll();
});
