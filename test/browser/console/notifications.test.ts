import { randomUUID } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Notification } from '../../../src/contract/notification.js';
import type { DeliveryTrace } from '../../../src/contract/push.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { launchBrowser } from '../../support/browser.js';
import { createConsolePages } from '../../support/console-pages.js';
import { eventually } from '../../support/eventually.js';
import { createInboxes } from '../../support/inbox.js';
import { button, choose, description, dryRun, figure, paste, path, publish } from '../../support/notification-form.js';
import { type FcmFake, startFcm } from '../../support/push-fakes/fcm.js';
import { createUser, signIn } from '../../support/users.js';

let fcm: FcmFake;
let postern: TestApp;
let browser: Browser;
beforeAll(async () => {
  fcm = await startFcm();
  postern = await startTestApp({ ...fcm.env, LOGIN_LIMIT_PER_ADDRESS: '0', NOTICES: 'none', APP_NAME: 'Splitter' });
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await postern?.close();
  await fcm?.close();
});

const { open, admin, operator } = createConsolePages(
  () => postern,
  () => browser,
);
const inboxOf = async (id: string) => (await admin<Notification[]>('GET', `/users/${id}/notifications`)).body;

describe.each([
  ['light', 1280, 'en'],
  ['dark', 390, 'es'],
] as const)('in the %s theme at %i px, in %s', (theme, width, language) => {
  test('the page has no finding of axe-core and no report, also with hostile values', async () => {
    const name = `<img src=x onerror=alert(1)>${'W'.repeat(60)} ${randomUUID()}`;
    const user = await createUser(postern, { name });
    await signIn(postern, user, { model: '<b>iPhone</b>', gcm_device_token: randomUUID() });
    const as = await operator();
    const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open(`${path}?to=${user.id}`, {
      as,
      theme,
      width,
      language,
    });
    await page.locator('bdi', { hasText: name }).first().waitFor();
    await expectAccessible();
    await page
      .getByLabel(/^(Description|Descripción)$/)
      .fill(`<script>alert(1)</script> ليلى \u202etxet ${'x'.repeat(600)}`);
    await page.getByLabel(/^(Actor|Autor) \(/).fill('<b>ليلى</b> عبد الرحمن');
    await page.getByLabel(/^(Number|Número)$/).fill('twelve');
    await button(page, /^(Run|Probar)$/).click();
    await page.getByText(/(Write a number with|Escribe un número con)/).waitFor();
    await expectAccessible();
    await page.getByLabel(/^(Number|Número)$/).fill('999999.99');
    await button(page, /^(Run|Probar)$/).click();
    await page.getByText(/nothing sent$|nada enviado$/).waitFor();
    if (width === 390) await button(page, /^(Show the preview|Mostrar la vista previa)$/).click();
    await page.getByRole('radio', { name: /^(Inbox|Bandeja)$/ }).check();
    await expectAccessible();
    await page.getByRole('radio', { name: 'Android' }).check();
    await page.getByRole('radio', { name: theme === 'light' ? /^(Dark|Oscuro)$/ : /^(Light|Claro)$/ }).check();
    await expectAccessible();
    await button(page, /^(See who|Ver quién)$/).click();
    await page.getByRole('dialog').getByText('<b>iPhone</b>').waitFor();
    await expectAccessible();
    expect(await page.locator('main img, main script').count()).toBe(0);
    await expectNoErrorsOrSidewaysScroll();
  });
});

describe('a dry run', () => {
  test('says who gets it, on which devices, and what mutes suppress, and publishes nothing', async () => {
    const family = `Dry ${randomUUID()}`;
    const pushed = await createUser(postern, { name: `${family} pushed` });
    await signIn(postern, pushed, { model: 'Pixel 9', gcm_device_token: randomUUID() });
    const muted = await createUser(postern, { name: `${family} muted` });
    const { session } = await signIn(postern, muted, { gcm_device_token: randomUUID() });
    const body = { filter: 'notification_type:pool' };
    await postern.api('POST', '/v1/notifications/mutes', { bearer: session.token, body });
    const withoutDevice = await createUser(postern, { name: `${family} bare` });
    const { page, expectNoErrorsOrSidewaysScroll } = await open(path, { as: await operator() });
    await button(page, 'Publish').and(page.locator(':disabled')).waitFor();
    for (const { name } of [pushed, muted, withoutDevice]) await choose(page, name);
    await page.getByRole('radio', { name: 'pool' }).check();
    await description(page).fill('A pool closes on Friday');
    await dryRun(page);
    for (const [name, count] of [
      ['People reached', '3'],
      ['Devices with push', '1'],
      ['Devices muted', '1'],
      ['Lines refused', '0'],
    ] as const) {
      expect([name, await figure(page, name).innerText()]).toEqual([name, count]);
    }
    await page.getByText('FCM 1 · 1 person has no device with push').waitFor();
    await button(page, 'See who').click();
    const who = page.getByRole('dialog', { name: 'Who gets it' });
    await who.getByRole('listitem').filter({ hasText: withoutDevice.name }).getByText('inbox only').waitFor();
    await page.keyboard.press('Escape');
    // A change needs another dry run.
    await description(page).fill('A pool closes on Saturday');
    await page.getByText('The form has changed since then.').waitFor();
    expect(await button(page, 'Publish').isDisabled()).toBe(true);
    for (const { id } of [pushed, muted, withoutDevice]) expect(await inboxOf(id)).toEqual([]);
    await expectNoErrorsOrSidewaysScroll();
  });

  test('shows what the service refuses at its field', async () => {
    const user = await createUser(postern);
    const { page, expectNoErrorsOrSidewaysScroll } = await open(`${path}?to=${user.id}`, { as: await operator() });
    await button(page, 'Run').click();
    await page.getByText('Write a description.').waitFor();
    await description(page).fill('Hello');
    await button(page, 'Object and text…').click();
    await page.getByLabel('Id of the object').fill('not an id');
    await button(page, 'Run').click();
    const field = page.getByLabel('Id of the object');
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
    await field.fill('');
    await page.getByLabel('Key').fill('k'.repeat(256));
    await button(page, 'Run').click();
    await expect.poll(() => page.getByLabel('Key').getAttribute('aria-invalid')).toBe('true');
    expect(await inboxOf(user.id)).toEqual([]);
    await expectNoErrorsOrSidewaysScroll();
  });
});

describe('a draft', () => {
  test('survives a reload, and the publish button waits for the connection', async () => {
    const [id = ''] = await createInboxes(postern.database, 1);
    const { page, context } = await open(path, { as: await operator() });
    await paste(page, [id]);
    await description(page).fill('Not sent yet');
    await page.reload();
    expect(await description(page).inputValue()).toBe('Not sent yet');
    expect(await page.getByLabel('Ids, mail addresses or phone numbers').inputValue()).toBe(id);
    await dryRun(page);
    await context.setOffline(true);
    await page.getByText('Waiting for the connection').first().waitFor();
    expect(await button(page, 'Publish to 1 person').isDisabled()).toBe(true);
    await context.setOffline(false);
    await publish(page, '1 person');
    await page.getByText('Published to 1 person.').waitFor();
    expect(await inboxOf(id)).toHaveLength(1);
  });

  test('can be sent with curl, whatever it contains', async () => {
    const user = await createUser(postern);
    const { page } = await open(`${path}?to=${user.id}`, { as: await operator() });
    await description(page).fill(`It's "quoted" $HOME \`id\``);
    await button(page, 'As curl').click();
    const command = await page.getByRole('dialog').locator('code').innerText();
    expect(command).toContain(`It'\\''s \\"quoted\\" $HOME \`id\``);
    expect(command).toContain(`"user_id":"${user.id}"`);
  });
});

describe('the page opens', () => {
  test('with the keys g n, from the palette, and on the page of a user by a button and with the key n', async () => {
    const name = `Ada ${randomUUID()}`;
    const user = await createUser(postern, { name });
    const { page, expectNoErrorsOrSidewaysScroll } = await open('/console', { as: await operator('support') });
    const title = page.getByRole('heading', { name: 'Notifications', level: 1 });
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Notifications' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('n');
    await title.waitFor();
    for (const way of ['button', 'key'] as const) {
      await page.goto(`${postern.url}/console/users/${user.id}`);
      await button(page, 'Notify').waitFor();
      await (way === 'button' ? button(page, 'Notify').click() : page.keyboard.press('n'));
      await title.waitFor();
      await button(page, `Remove ${name}`).waitFor();
      expect(new URL(page.url()).search).toBe('');
    }
    await page.goto(`${postern.url}/console/users`);
    await page.getByRole('heading', { name: 'Users', level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('send a notif');
    // The palette has this command only when the role of the operator is known.
    await page.getByRole('option', { name: 'Send a notification', selected: true }).waitFor();
    await page.keyboard.press('Enter');
    await title.waitFor();
    await expectNoErrorsOrSidewaysScroll();
  });
});

describe('one notification', () => {
  test('is found by its id, with what happened to it, and deleted', async () => {
    const hostile = '<img src=x onerror=alert(1)> ليلى';
    const user = await createUser(postern, { name: `Grace ${randomUUID()}` });
    const { session } = await signIn(postern, user, { model: hostile, gcm_device_token: randomUUID() });
    const body = {
      ...{ user_id: user.id, notification_type: 'payment', actor: hostile, description: hostile },
      ...{ image: 'https://images.example.com/lunch.jpg' },
    };
    const { body: made } = await postern.api<Notification>('POST', '/admin/v1/notifications', {
      ...{ bearer: postern.adminKey, body },
    });
    const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await open(`${path}?view=find`, {
      as: await operator(),
    });
    await page.getByLabel('Id of the notification').fill('lunch');
    await button(page, 'Find').click();
    await page.getByText('An id looks like').waitFor();
    await page.getByLabel('Id of the notification').fill(randomUUID());
    await button(page, 'Find').click();
    await page.getByText('No notification has this id').waitFor();
    await page.getByLabel('Id of the notification').fill(made.id.toUpperCase());
    await page.keyboard.press('Enter');
    await page.getByText('1 pushed').waitFor();
    await page.getByText('Not read yet.').waitFor();
    await page.getByText('Image from images.example.com. The console does not load it.').waitFor();
    expect(await page.locator('main img').count()).toBe(0);
    await expectAccessible();
    const marker = { bearer: session.token, body: { last_read_id: made.id } };
    await postern.api('PUT', '/v1/notifications/marker', marker);
    await page.reload();
    await page.getByText('Read: the read position of the user is here or later.').waitFor();
    await button(page, 'Delete…').click();
    await page.getByRole('dialog').getByText(`It is removed from the inbox of ${user.name}`).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('The notification is deleted.').waitFor();
    await page.getByText('No notification has this id').waitFor();
    await eventually('the deletion', async () => ((await inboxOf(user.id)).length === 0 ? true : undefined));
    await expectNoErrorsOrSidewaysScroll();
  });
});

describe('the type of a notification', () => {
  test.each([
    ['few types are buttons', 'chat,invoice', 'radio'],
    ['many types are a list', 'chat,invoice,order,refund,security,shipment', 'option'],
  ] as const)('is one of the installation: %s', async (_, types, role) => {
    const other = await startTestApp({ NOTIFICATION_TYPES: types, LOGIN_LIMIT_PER_ADDRESS: '0' });
    onTestFinished(() => other.close());
    const pages = createConsolePages(
      () => other,
      () => browser,
    );
    const user = await createUser(other);
    const { page, expectNoErrorsOrSidewaysScroll, expectAccessible } = await pages.open(
      `/console/notifications?to=${user.id}`,
      { as: await pages.operator(), width: 390 },
    );
    await page.getByRole('button', { name: 'Run', exact: true }).waitFor();
    const list = role === 'radio' ? page.getByRole('group', { name: 'Type' }) : page.getByLabel('Type');
    await list.getByRole(role).first().waitFor({ state: 'attached' });
    const names = role === 'radio' ? list.locator('label') : list.locator('option');
    expect(await names.allInnerTexts()).toEqual(types.split(','));
    await expectAccessible();
    if (role === 'radio') await list.getByRole('radio', { name: 'invoice' }).check();
    else await list.selectOption('invoice');
    await page.getByLabel('Description').fill('Paid');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await publish(page, '1 person');
    const published = await eventually('the notification', async () => {
      const { body } = await pages.admin<Notification[]>('GET', `/users/${user.id}/notifications`);
      return body[0];
    });
    expect(published.notification_type).toBe('invoice');
    await expectNoErrorsOrSidewaysScroll();
  });
});

test.each([
  ['light', 1280, 'en'],
  ['dark', 390, 'es'],
] as const)(
  'a notification says why each channel did not bring it, in the %s theme at %i px, in %s',
  async (theme, width, language) => {
    const words = language === 'en' ? english : spanish;
    await admin('PUT', '/categories/rent', {
      // A critical one needs no PUBLIC_URL for its mails.
      is_critical: true,
      steps: [{ channel: 'push' }, { channel: 'sms' }, { channel: 'email', after: '1h', if: 'unread' }],
    });
    const user = await createUser(postern);
    const body = { user_id: user.id, notification_type: 'payment', category: 'rent', description: 'The rent is due' };
    const { body: published } = await admin<Notification>('POST', '/notifications', body);
    await eventually('the decision about the SMS', async () => {
      const trace = await admin<DeliveryTrace>('GET', `/notifications/${published.id}/deliveries`);
      return trace.body.sms.length > 0 ? true : undefined;
    });
    const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = await open(
      `${path}?view=find&id=${published.id}`,
      {
        ...{ as: await operator(), theme, width, language },
      },
    );
    const line = (name: string) => page.getByRole('listitem').filter({ hasText: new RegExp(`^${name}`) });
    await line('SMS').getByText(words.no_address).waitFor();
    await line(words.mail).getByText(words.not_due).waitFor();
    await expectAccessible();
    await expectNoErrorsOrSidewaysScroll();
    await admin('PUT', '/categories/quiet', { steps: [] });
    const { body: quiet } = await admin<Notification>('POST', '/notifications', { ...body, category: 'quiet' });
    await page.goto(`${postern.url}${path}?view=find&id=${quiet.id}`);
    await line(words.mail).getByText(words.noStep).waitFor();
  },
);

const english = {
  mail: 'Mail',
  no_address: 'The user has no address for this channel.',
  not_due: 'Then Postern decides whether it goes.',
  noStep: 'The category had no such step',
};
const spanish: typeof english = {
  mail: 'Correo',
  no_address: 'El usuario no tiene dirección para este canal.',
  not_due: 'Entonces Postern decide si se envía.',
  noStep: 'La categoría no tenía este paso',
};
