import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ElementPage, type ElementPages, type ShowOptions, startElementPages } from '../../support/elements.js';
import { type Answers, contextOf, look, problem } from '../../support/gallery.js';
import { pseudoTexts } from '../../support/pseudo-locale.js';
import { createUser, password } from '../../support/users.js';

let pages: ElementPages;
beforeAll(async () => {
  pages = await startElementPages(
    { PIN_POLICY: 'off', NOTIFICATION_TYPES: 'payment,request,security,message,event' },
    pseudoTexts,
  );
});
afterAll(() => pages?.close());

const notices = [
  ['payment', 'Grace Hopper', 'paid you 18.50 € for “Pizza at Luigi’s”.'],
  ['request', 'Edsger Dijkstra', 'asks you for 7.20 € for the taxi.'],
  [
    'security',
    null,
    'Somebody signed in to your account on a new device: Firefox, Linux. If this was not you, sign out the devices that you do not know, and change your password if you have one. Then look at your activity, and tell the people who run this service what you have seen there.',
  ],
  ['message', 'مريم', 'متى نلتقي غدًا في المكتب؟'],
  ['event', null, 'Your trip to Lisbon begins tomorrow.'],
] as const;

interface InboxPageOptions extends ShowOptions {
  readonly isEmpty?: boolean;
  /** Members of the newest notification. */
  readonly extra?: object;
}
async function inboxPage(answers: Answers = {}, options: InboxPageOptions = {}) {
  const { isEmpty, extra, ...shown } = options;
  const user = await createUser(pages.app);
  const { adminKey: bearer, api } = pages.app;
  for (const [notification_type, actor, description] of isEmpty ? [] : notices) {
    const isLast = notification_type === 'event';
    const body = { user_id: user.id, notification_type, description, ...(actor && { actor }), ...(isLast && extra) };
    const answer = await api('POST', '/admin/v1/notifications', { bearer, body });
    expect([notification_type, answer.status, answer.body]).toMatchObject([notification_type, 201, {}]);
  }
  const context = await contextOf(pages.browser, answers);
  return pages.show('postern-inbox', { login: { identity: user.username ?? '', password }, context, ...shown });
}
const list = { attributes: { layout: 'list' } };
async function see(page: Promise<ElementPage>, text: string): Promise<ElementPage> {
  const shown = await page;
  await shown.page.getByText(text).first().waitFor();
  return shown;
}
const failing = problem(500, 'internal_error');
const stateful = { attributes: { layout: 'list', tabs: '', archive: '', snooze: '' } };
/** An invitation that can be answered, above the other notices. */
async function invitationPage(options: ShowOptions = {}, answers: Answers = {}): Promise<ElementPage> {
  const actions = [
    { key: 'accept', label: 'Accept' },
    { key: 'decline', label: 'Decline' },
  ];
  return see(
    inboxPage(answers, { ...stateful, extra: { actions, url: 'https://example.com/dinner' }, ...options }),
    'Accept',
  );
}
const press = (shown: ElementPage, name: string | RegExp) => shown.page.getByRole('button', { name }).first().click();

const states: readonly (readonly [name: string, reach: () => Promise<ElementPage>])[] = [
  [
    'inbox-bell',
    async () => {
      const shown = await inboxPage();
      await shown.page.getByRole('button', { name: /unread/ }).focus();
      return shown;
    },
  ],
  [
    'inbox-open',
    async () => {
      const shown = await inboxPage();
      await shown.page.getByRole('button', { name: /unread/ }).click();
      await shown.page.getByText('Grace Hopper').waitFor();
      return shown;
    },
  ],
  ['inbox-list', () => see(inboxPage({}, list), 'Grace Hopper')],
  ['inbox-list-spanish', () => see(inboxPage({}, { ...list, lang: 'es' }), 'Grace Hopper')],
  ['inbox-empty', () => see(inboxPage({}, { ...list, isEmpty: true }), 'No notifications yet')],
  ['inbox-loading', () => inboxPage({ '**/v1/notifications**': () => undefined }, list)],
  ['inbox-error', () => see(inboxPage({ '**/v1/notifications**': failing }, list), 'Try again')],
  [
    'inbox-offline',
    () => see(inboxPage({ '**/v1/notifications**': (route) => route.abort() }, list), 'No connection.'),
  ],
  ['inbox-signed-out', () => see(pages.show('postern-inbox', list), 'Sign in to see')],
  ['inbox-tabs', () => invitationPage()],
  ['inbox-tabs-spanish', () => invitationPage({ lang: 'es' })],
  [
    'inbox-tabs-bell',
    async () => {
      const shown = await invitationPage({ attributes: { ...stateful.attributes, layout: 'bell', open: '' } });
      await shown.page.getByText('Grace Hopper').waitFor();
      return shown;
    },
  ],
  [
    'inbox-tabs-snooze',
    async () => {
      const shown = await invitationPage();
      await press(shown, /^Snooze: Your trip/);
      await shown.page.getByRole('button', { name: /^Tomorrow/ }).waitFor();
      return shown;
    },
  ],
  [
    'inbox-tabs-done',
    async () => {
      const shown = await invitationPage();
      await press(shown, 'Accept');
      await press(shown, /^Mark as read: Grace/);
      await shown.page.getByRole('button', { name: /^Mark as unread: Grace/ }).waitFor();
      return shown;
    },
  ],
  [
    'inbox-tabs-archived',
    async () => {
      const shown = await invitationPage();
      await press(shown, /^Archive: Your trip/);
      await press(shown, /^Archive: Edsger/);
      await press(shown, 'Archived');
      await shown.page.getByRole('button', { name: /^Move to inbox: Edsger/ }).waitFor();
      return shown;
    },
  ],
  [
    'inbox-tabs-snoozed',
    async () => {
      const shown = await invitationPage();
      await press(shown, /^Snooze: Your trip/);
      await press(shown, /^Tomorrow/);
      await press(shown, 'Snoozed');
      return see(Promise.resolve(shown), 'Snoozed until');
    },
  ],
  [
    'inbox-tabs-empty',
    async () => {
      const shown = await inboxPage({}, { ...stateful, isEmpty: true });
      await press(shown, 'Archived');
      return see(Promise.resolve(shown), 'Nothing is archived');
    },
  ],
  [
    'inbox-tabs-failed',
    async () => {
      const shown = await invitationPage({}, { '**/v1/notifications/states': failing });
      await press(shown, /^Archive: Your trip/);
      return see(Promise.resolve(shown), 'The change was not saved');
    },
  ],
  [
    'inbox-push-settings',
    async () => {
      const shown = await see(inboxPage({}, list), 'Grace Hopper');
      await shown.page.getByRole('button', { name: 'Push settings' }).click();
      await shown.page.getByRole('switch').first().waitFor();
      return shown;
    },
  ],
  [
    'inbox-push-settings-failed',
    async () => {
      const shown = await see(
        inboxPage({ '**/v1/mutes**': failing, '**/v1/notifications/mutes**': failing }, list),
        'Grace Hopper',
      );
      await shown.page.getByRole('button', { name: 'Push settings' }).click();
      await shown.page.getByText('could not be loaded').waitFor();
      return shown;
    },
  ],
];

test.each(states)('%s is accessible in every variant', async (name, reach) => {
  const shown = await reach();
  await look(name, shown);
  await shown.page.close();
});

test('a notice about the security of the account is shown whole, and other long texts end with an ellipsis', async () => {
  const user = await createUser(pages.app);
  const description = 'Somebody signed in to your account on a device that you have not used before. '.repeat(3).trim();
  const { adminKey: bearer, api } = pages.app;
  for (const notification_type of ['security', 'payment']) {
    const body = { user_id: user.id, notification_type, description };
    expect((await api('POST', '/admin/v1/notifications', { bearer, body })).status).toBe(201);
  }
  const login = { identity: user.username ?? '', password };
  const { page } = await pages.show('postern-inbox', { ...list, login, width: 390 });
  const all = `[...element.shadowRoot.querySelectorAll('[part~=description]')]`;
  // The newest comes first.
  await expect
    .poll(() => page.evaluate(`${all}.map((node) => node.scrollHeight > node.clientHeight + 1)`))
    .toEqual([true, false]);
  await page.close();
});
