import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ElementPage, type ElementPages, startElementPages } from '../../support/elements.js';
import { signInWithRole } from '../../support/operators.js';
import { askForLogin, verify } from '../../support/support-logins.js';
import { createUser, password } from '../../support/users.js';

let pages: ElementPages;
beforeAll(async () => {
  pages = await startElementPages({ SUPPORT_CONSENT: 'on', LOGIN_LIMIT_PER_ADDRESS: '0' });
});
afterAll(() => pages?.close());

const press = ({ page }: ElementPage, name: string) => page.getByRole('button', { name, exact: true }).click();
const inDialog = ({ page }: ElementPage, name: string) =>
  page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
const accountOf = (username: string | null, attributes: Record<string, string> = {}) =>
  pages.show('postern-account', { login: { identity: username ?? '', password }, attributes });

test('the user allows a support login, sees it, and ends it', async () => {
  const operator = await signInWithRole(pages.app, 'operator');
  const user = await createUser(pages.app);
  const reason = 'Ticket 4711: the <b>invoice</b> is missing';
  const { body: asked } = await askForLogin(pages.app, operator, user.id, { reason, write: true });
  const shown = await accountOf(user.username);
  const { page, expectAccessible, expectNoErrorsOrSidewaysScroll } = shown;
  await page.getByText(reason).waitFor();
  await page.getByText(/^Waits for your answer until .* · may change something$/).waitFor();
  await expectAccessible();
  await press(shown, `Allow: ${reason}`);
  await page.getByText('They may change other things for you.').waitFor();
  await expectAccessible();
  await inDialog(shown, 'Allow');
  await page.getByText(/^Allowed until /).waitFor();
  const path = `/admin/v1/users/${user.id}/support-logins/${asked.id}`;
  const { body } = await pages.app.api<{ token: string }>('GET', path, { bearer: operator.bearer });
  const { body: session } = await pages.app.api<{ token: string }>('POST', '/v1/sessions', { basic: body.token });
  expect((await verify(pages.app, session.token)).status).toBe(200);
  await press(shown, `End: ${reason}`);
  await inDialog(shown, 'End');
  await page.getByText(/^Ended · /).waitFor();
  expect((await verify(pages.app, session.token)).status).toBe(401);
  expect(await shown.events('changed')).toEqual([
    { operation: 'allow_support_login' },
    { operation: 'end_support_login' },
  ]);
  await expectNoErrorsOrSidewaysScroll();
});

test('the user refuses one, in Spanish; without a support login there is no section', async () => {
  const operator = await signInWithRole(pages.app, 'operator');
  const [user, other] = [await createUser(pages.app), await createUser(pages.app)];
  await askForLogin(pages.app, operator, user.id);
  const shown = await accountOf(user.username, { lang: 'es', sections: 'support' });
  await shown.page.getByRole('heading', { name: 'Soporte' }).waitFor();
  await press(shown, 'Rechazar: Ticket 4711');
  await inDialog(shown, 'Rechazar');
  await shown.page.getByText(/^Rechazado · solo mira · /).waitFor();
  const without = await accountOf(other.username);
  await without.page.getByRole('heading', { name: 'Activity' }).waitFor();
  expect(await without.page.getByRole('heading', { name: 'Support' }).count()).toBe(0);
});
