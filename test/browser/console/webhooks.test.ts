import { randomUUID } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IssuedWebhook, Webhook, WebhookDelivery } from '../../../src/contract/webhooks.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';
import { eventually } from '../../support/eventually.js';
import { createUser } from '../../support/users.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.js';

let postern: TestApp;
let browser: Browser;
let receiver: WebhookReceiver;
let signedInOperator: Awaited<ReturnType<typeof operator>>;
beforeAll(async () => {
  [postern, receiver, browser] = await Promise.all([
    startTestApp({ ALLOW_PRIVATE_NETWORK_TARGETS: 'true', LOGIN_LIMIT_PER_ADDRESS: '0' }),
    startWebhookReceiver(),
    launchBrowser(),
  ]);
  signedInOperator = await operator();
});
afterAll(async () => {
  await browser?.close();
  await postern?.close();
  await receiver?.close();
});

const { open, admin, operator } = createConsolePages(
  () => postern,
  () => browser,
);
/** The webhooks of each test have names and paths of their own. */
async function subscribe(fields: object = {}) {
  const path = `/${randomUUID()}`;
  const body = { url: `${receiver.url}${path}`, events: ['user.*'], description: path.slice(1, 9), ...fields };
  const { body: webhook } = await admin<IssuedWebhook>('POST', '/webhooks', body);
  return { path, webhook, name: webhook.description };
}
const read = async ({ id }: { id: string }) => (await admin<Webhook>('GET', `/webhooks/${id}`)).body;
const deliveries = async ({ id }: { id: string }) =>
  (await admin<WebhookDelivery[]>('GET', `/webhooks/${id}/deliveries`)).body;
const dialog = (page: Page) => page.getByRole('dialog');
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const more = async (page: Page, name: string) => {
  await button(page, 'More actions').click();
  await page.getByRole('menuitem', { name }).click();
};

test('without a webhook, the page explains webhooks, and the form creates one whose secret is shown once', async () => {
  const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/webhooks', { as: signedInOperator });
  await page.getByText('No webhook yet').waitFor();
  await page.getByText('Send a test event, and see the answer of your server here.').waitFor();
  await page.keyboard.press('c');
  const create = button(page, 'Create the webhook');
  expect(await create.isDisabled()).toBe(true);
  await dialog(page).getByLabel('URL', { exact: true }).fill('ftp://example.com');
  await dialog(page).getByLabel('Sign-ins').check();
  await dialog(page).getByLabel('user.created').check();
  await create.click();
  await dialog(page).getByText('the scheme must be https').waitFor();
  await dialog(page).getByLabel('URL', { exact: true }).fill(`${receiver.url}/made`);
  await dialog(page).getByLabel('Name').fill('the warehouse');
  await create.click();
  const secret = (await page.getByText(/^whsec_/).textContent()) ?? '';
  await page.keyboard.press('Escape');
  expect(await page.getByText(secret).isVisible()).toBe(true);
  await button(page, 'I have copied it').click();
  await page.getByRole('heading', { name: 'the warehouse' }).waitFor({ state: 'attached' });
  const [made] = (await admin<Webhook[]>('GET', '/webhooks')).body;
  expect(made).toMatchObject({ events: ['user.created', 'login.*'], url: `${receiver.url}/made`, payload: 'thin' });
  expect(await page.content()).not.toContain(secret);
  await expectNoErrorsOrSidewaysScroll();
});

test('a delivery shows its request and the answer, and is replayed', async () => {
  const { webhook, path } = await subscribe();
  receiver.answer = (event) => (event.path === path ? { status: 202, body: '{"stored":true}' } : 204);
  const user = await createUser(postern, { name: 'Grace Hopper' });
  const { page, expectNoErrorsOrSidewaysScroll } = await open(`/console/webhooks/${webhook.id}`, {
    as: signedInOperator,
  });
  await page.getByRole('row', { name: 'user.created delivered' }).press('Enter');
  const shown = page.getByRole('region', { name: 'user.created' });
  await shown.getByText('"stored": true').waitFor();
  const event = await receiver.wait(path, 'the creation');
  await shown.getByText(`webhook-id: ${event.id}`).waitFor();
  await shown.getByRole('link', { name: 'Grace Hopper' }).waitFor();
  expect(await shown.textContent()).toContain(`"user_id": "${user.id}"`);
  const [delivery] = await deliveries(webhook);
  expect(new URL(page.url()).searchParams.get('open')).toBe(delivery?.id);
  await shown.getByRole('button', { name: 'Replay', exact: true }).click();
  await page.getByText('The event is sent again.').waitFor();
  const countRepeats = () => receiver.received.filter(({ id }) => id === event.id).length;
  await eventually('the repetition', async () => (countRepeats() > 1 ? true : undefined));
  await expectNoErrorsOrSidewaysScroll();
});

test('a webhook that fails says since when and why, and its failed events are replayed', async () => {
  const { webhook, path } = await subscribe();
  receiver.answer = (event) => (event.path === path ? { status: 500, body: 'relation "x" does not exist' } : 204);
  const user = await createUser(postern);
  await eventually('the failure', async () => ((await read(webhook)).failing_since === null ? undefined : true));
  const { page, expectNoErrorsOrSidewaysScroll } = await open('/console/webhooks', { as: signedInOperator });
  const row = page.getByRole('row', { name: webhook.description });
  await row.getByText('Failing since').filter({ visible: true }).waitFor();
  await row.click();
  await page.getByText('the endpoint answered with the status 500.').waitFor();
  await page.getByText('1 delivery is waiting. Postern tries each of them for 24 hours.').waitFor();
  await page.getByRole('row', { name: 'user.created retried' }).click();
  await page.getByText('relation "x" does not exist').waitFor();
  await page.getByText(/Next try at/).waitFor();
  await page.getByRole('button', { name: /^Replay since/ }).click();
  receiver.answer = () => 204;
  await dialog(page).getByRole('button', { name: 'Replay', exact: true }).click();
  await page.getByText('replayed.').waitFor();
  await receiver.wait(path, 'the replay', ({ data }) => data.user_id === user.id);
  await eventually('the success', async () => ((await read(webhook)).last_success_at === null ? undefined : true));
  await expectNoErrorsOrSidewaysScroll();
});

test('a test event is sent, and the secret is rotated', async () => {
  const { webhook, path } = await subscribe();
  receiver.answer = (event) => (event.path === path ? { status: 418, body: 'short and stout' } : 204);
  const { page, expectNoErrorsOrSidewaysScroll } = await open(`/console/webhooks/${webhook.id}`, {
    as: signedInOperator,
  });
  await button(page, 'Send a test…').waitFor();
  await page.keyboard.press('t');
  await dialog(page).getByLabel('Event').selectOption('login.locked');
  await button(page, 'Send the test').click();
  await dialog(page).getByText('Your server did not accept the event.').waitFor();
  await dialog(page).getByText('short and stout').waitFor();
  expect(await receiver.wait(path, 'the test')).toMatchObject({ type: 'login.locked', data: { is_test: true } });
  await page.keyboard.press('Escape');
  await button(page, 'Rotate secret…').click();
  await button(page, 'Rotate the secret').click();
  const secret = (await page.getByText(/^whsec_/).textContent()) ?? '';
  expect(secret).not.toBe(webhook.secret);
  await button(page, 'I have copied it').click();
  await page.getByText(/The previous secret also signs until/).waitFor();
  expect((await read(webhook)).previous_secret_until).not.toBeNull();
  receiver.answer = () => 204;
  await expectNoErrorsOrSidewaysScroll();
});

test('a webhook is edited, paused, enabled again, and deleted after its name was typed', async () => {
  const { webhook, name } = await subscribe();
  const { page, expectNoErrorsOrSidewaysScroll } = await open(`/console/webhooks/${webhook.id}`, {
    as: signedInOperator,
  });
  await more(page, 'Edit…');
  await dialog(page).getByLabel('user.updated').uncheck();
  await dialog(page).getByLabel('Payload').selectOption('Full');
  await button(page, 'Save').click();
  await page.getByText('The webhook is changed.').waitFor();
  expect(await read(webhook)).toMatchObject({
    events: ['user.created', 'user.deleted', 'user.locked', 'user.unlocked', 'user.deactivated'],
    payload: 'full',
  });
  await more(page, 'Pause');
  await page.getByText(/^Paused since/).waitFor();
  expect(await read(webhook)).toMatchObject({ enabled: false, disabled_reason: 'operator' });
  await page.getByRole('main').getByRole('button', { name: 'Enable…' }).click();
  await button(page, 'Enable the webhook').click();
  await page.getByText('The webhook is enabled.').waitFor();
  expect(await read(webhook)).toMatchObject({ enabled: true });
  await more(page, 'Delete…');
  const remove = button(page, 'Delete the webhook');
  expect(await remove.isDisabled()).toBe(true);
  await dialog(page).getByRole('textbox').fill(name);
  await remove.click();
  await page.getByText(`${name} is deleted.`).waitFor();
  expect((await admin('GET', `/webhooks/${webhook.id}`)).status).toBe(404);
  await expectNoErrorsOrSidewaysScroll();
});

test('a support agent has no link to the page, and the API refuses its data', async () => {
  const { page } = await open('/console/webhooks', { as: await operator('support') });
  await page.getByText('The scope webhooks:write is missing.').waitFor();
  expect(await page.getByRole('link', { name: 'Webhooks' }).count()).toBe(0);
});

describe.each([
  { width: 1280, theme: 'light', language: 'en' },
  { width: 390, theme: 'dark', language: 'es' },
] as const)('at $width px in the $theme theme, in $language', (variant) => {
  test('the pages and the form have no finding of axe-core and no report', async () => {
    const hostile = '<b>W</b>'.repeat(30);
    const { webhook, path } = await subscribe({ description: hostile, events: ['*'] });
    receiver.answer = (event) => (event.path === path ? { status: 500, body: hostile } : 204);
    await createUser(postern, { name: hostile });
    await eventually('the failure', async () => ((await read(webhook)).failing_since === null ? undefined : true));
    const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open('/console/webhooks', {
      as: signedInOperator,
      ...variant,
    });
    await page.getByText('<b>W</b>').locator('visible=true').first().waitFor();
    await expectAccessible();
    await page.keyboard.press('c');
    await dialog(page).waitFor();
    await expectAccessible();
    const [delivery] = await deliveries(webhook);
    await page.goto(`${postern.url}/console/webhooks/${webhook.id}?open=${delivery?.id}`);
    await page.getByText('webhook-id:').waitFor();
    await expectAccessible();
    await expectNoErrorsOrSidewaysScroll();
    receiver.answer = () => 204;
    await admin('DELETE', `/webhooks/${webhook.id}`);
  });
});
