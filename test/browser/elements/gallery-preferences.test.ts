import type { Route } from 'playwright-core';
import { afterAll, beforeAll, test } from 'vitest';
import { type ElementPage, type ElementPages, type ShowOptions, startElementPages } from '../../support/elements.js';
import { type Answers, contextOf, look, problem } from '../../support/gallery.js';
import { pseudoTexts } from '../../support/pseudo-locale.js';
import { createUser, newEmail, newPhone, password } from '../../support/users.js';

let pages: ElementPages;
beforeAll(async () => {
  pages = await startElementPages({ PIN_POLICY: 'off', NOTIFICATION_TYPES: 'payment,request' }, pseudoTexts);
  const define = (name: string, body: object) =>
    pages.app.api('PUT', `/admin/v1/categories/${name}`, { bearer: pages.app.adminKey, body });
  // What an operator writes is in the language of the users.
  await define('payment', { title: { en: 'Payments' }, description: { en: 'When somebody pays you, or you pay.' } });
  await define('request', { title: { en: 'Shares that you owe' }, defaults: { sms: 'off' } });
  await define('security', {
    is_critical: true,
    title: { en: 'Security' },
    description: { en: 'New devices and changes of your account.' },
    defaults: { sms: 'off' },
  });
  const topic = (key: string, body: object) =>
    pages.app.api('PUT', `/admin/v1/topics/${key}`, { bearer: pages.app.adminKey, body });
  await topic('lisbon', { title: 'A weekend in Lisbon' });
  await topic('cooks', { title: 'The cooks of the house on the hill, who meet on Thursdays', is_open: true });
  await topic('chess', { title: 'Chess club', is_open: true });
  await define('trips', { title: { en: 'رحلات' }, description: { en: 'قبل أن تبدأ رحلتك' } });
});
afterAll(() => pages?.close());

interface PageOptions extends ShowOptions {
  readonly person?: object;
  readonly choices?: object;
  readonly topics?: readonly string[];
}
async function preferencesPage(answers: Answers = {}, options: PageOptions = {}): Promise<ElementPage> {
  const { person = { email: newEmail(), phone: newPhone() }, choices, topics = [], ...shown } = options;
  const user = await createUser(pages.app, person);
  for (const key of topics)
    await pages.app.api('PUT', `/admin/v1/topics/${key}/subscriptions/${user.id}`, { bearer: pages.app.adminKey });
  if (choices !== undefined) {
    const path = `/admin/v1/users/${user.id}/preferences`;
    await pages.app.api('PATCH', path, { bearer: pages.app.adminKey, body: choices });
  }
  const context = await contextOf(pages.browser, answers);
  const login = { identity: user.username ?? '', password };
  return pages.show('postern-preferences', { login, context, attributes: { 'account-url': '/account' }, ...shown });
}
async function ready(page: Promise<ElementPage>): Promise<ElementPage> {
  const shown = await page;
  await shown.page.getByRole('switch').first().waitFor();
  await shown.page.locator('.topic').first().waitFor();
  return shown;
}
const failing = problem(500, 'internal_error');
const path = '**/v1/preferences';
/** Changes what the service answers. */
const answering = (change: (body: Record<string, never>) => object) => async (route: Route) => {
  const response = await route.fetch();
  const body = (await response.json()) as Record<string, never>;
  await route.fulfill({ response, json: { ...body, ...change(body) } });
};

const states: readonly (readonly [name: string, reach: () => Promise<ElementPage>])[] = [
  ['preferences', () => ready(preferencesPage())],
  ['preferences-spanish', () => ready(preferencesPage({}, { lang: 'es' }))],
  [
    'preferences-topics',
    () => ready(preferencesPage({}, { choices: { topics: { chess: { push: 'off' } } }, topics: ['chess', 'lisbon'] })),
  ],
  [
    'preferences-topics-failed',
    async () => {
      const shown = await preferencesPage({ '**/v1/topics/page*': failing });
      await shown.page.getByText('could not be loaded').waitFor();
      return shown;
    },
  ],
  [
    'preferences-chosen',
    () =>
      ready(
        preferencesPage(
          {},
          {
            choices: {
              channels: { email: 'off' },
              categories: { payment: { push: 'off', inbox: 'off' }, request: { sms: 'on' } },
            },
          },
        ),
      ),
  ],
  ['preferences-no-addresses', () => ready(preferencesPage({}, { person: {} }))],
  [
    'preferences-addresses',
    () =>
      ready(preferencesPage({ [path]: answering(() => ({ addresses: { email: 'suppressed', sms: 'not_proven' } })) })),
  ],
  [
    'preferences-digest',
    async () => {
      const digest = ({ categories }: Record<string, Record<string, { cells: object }>>) => ({
        categories: {
          ...categories,
          payment: {
            ...categories?.payment,
            cells: { ...categories?.payment?.cells, email: { value: 'digest', default: 'on', is_chosen: true } },
          },
        },
      });
      const shown = await ready(preferencesPage({ [path]: answering(digest as never) }));
      await shown.page.getByRole('combobox', { name: 'Payments Email' }).waitFor();
      return shown;
    },
  ],
  ['preferences-empty', () => ready(preferencesPage({ [path]: answering(() => ({ categories: {} })) }))],
  ['preferences-loading', () => preferencesPage({ [path]: () => undefined })],
  [
    'preferences-error',
    async () => {
      const shown = await preferencesPage({ [path]: failing });
      await shown.page.getByText('could not be loaded').waitFor();
      return shown;
    },
  ],
  [
    'preferences-not-saved',
    async () => {
      const shown = await ready(
        preferencesPage({
          [path]: (route) => (route.request().method() === 'PATCH' ? failing(route) : route.continue()),
        }),
      );
      await shown.page.getByRole('switch', { name: 'Payments Push' }).click();
      await shown.page.getByText('The change was not saved').waitFor();
      return shown;
    },
  ],
  [
    'preferences-signed-out',
    async () => {
      const shown = await pages.show('postern-preferences');
      await shown.page.getByText('Sign in to see your settings.').waitFor();
      return shown;
    },
  ],
];

test.each(states)('%s is accessible in every variant', async (name, reach) => {
  const shown = await reach();
  await look(name, shown);
  await shown.page.close();
});
