import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Authentication } from '../../../../src/contract/authentication.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { type MailServer, startMailServer } from '../../../support/mail-server.js';
import { createUser, emailLogin, newEmail, newPhone, smsLogin } from '../../../support/users.js';

/** The links in mails with the code of a login: LOGIN_LINK. */

const appPage = 'https://app.example.com/login';
let server: MailServer;
let postern: TestApp;
beforeAll(async () => {
  server = await startMailServer();
  postern = await startTestApp({
    ...{ SMTP_URL: `smtp://127.0.0.1:${server.port}?tls=none`, MAIL_FROM: 'no-reply@example.org' },
    ...{ PUBLIC_URL: 'https://auth.example.com/postern', LOGIN_LINK: 'on', REGISTRATION: 'on', PIN_POLICY: 'off' },
    ...{ REDIRECT_URIS: `${appPage},com.example.app:/login,http://127.0.0.1/login` },
    ...{ LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0' },
  });
});
afterAll(async () => {
  await postern.close();
  await server.close();
});

const start = (body: object) =>
  postern.api<Authentication & Pick<ProblemAnswer, 'errors'>>('POST', '/v1/tokens', { body });
const mailTo = (address: string | null) =>
  eventually('a mail', async () => server.received.find(({ to }) => to.includes(address ?? '')));
const linkIn = (text: string) => /^ {4}(\S+#\S+)$/m.exec(text)?.[1] ?? '';

test('the mail has the code, who asked for it, and a link to the page that shows the code', async () => {
  const { email } = await createUser(postern, { email: newEmail() });
  const device = { make: 'Fairphone', model: '5', os_name: 'Android' };
  const { body } = await start({ ...emailLogin(email), device });
  const { text, html } = await mailTo(email);
  const [, code = ''] = /^ {4}(\d{6})$/m.exec(text) ?? [];
  expect(linkIn(text)).toBe(`https://auth.example.com/postern/link#${body.id}.${code}`);
  expect(html).toContain(`<a href="${linkIn(text)}"`);
  expect(text).toContain('Device: Fairphone 5, Android');
  expect(text).toMatch(/Network: 127\.0\.0\.0\/24/);
  expect(text).toMatch(/Time: \d{4}-\d\d-\d\d \d\d:\d\d UTC/);
  const answer = await postern.api<Authentication>('POST', `/v1/tokens/${body.id}/secret`, { body: { secret: code } });
  expect(answer.body.status).toBe('approved');
});

test.each([appPage, 'com.example.app:/login', 'http://127.0.0.1:41234/login'])(
  'link_to %s leads there',
  async (link_to) => {
    const { email } = await createUser(postern, { email: newEmail() });
    const { body } = await start({ ...emailLogin(email), link_to });
    const { text } = await mailTo(email);
    expect(linkIn(text)).toMatch(new RegExp(`^${link_to.replaceAll('.', '\\.')}#${body.id}\\.\\d{6}$`));
  },
);

test('an address that nobody has gets the same mail with sign_up, in the language of its user if there is one', async () => {
  const fresh = newEmail();
  const { email: spanish } = await createUser(postern, { email: newEmail(), locale: 'es' });
  for (const email of [fresh, spanish]) await start({ ...emailLogin(email), sign_up: true, link_to: appPage });
  expect((await mailTo(fresh)).text).toContain('Who asked for it:');
  expect((await mailTo(spanish)).text).toContain('Quién lo ha pedido:');
});

test('a link_to that is not listed, or cannot work, is refused in the same way for every address', async () => {
  const { email, phone } = await createUser(postern, { email: newEmail(), phone: newPhone() });
  const refusal = async (body: object, on = postern) => {
    const answer = await on.api<ProblemAnswer>('POST', '/v1/tokens', { body });
    return [answer.status, ...answer.body.errors.map(({ field, code }) => `${field} ${code}`)];
  };
  for (const address of [email, newEmail()])
    for (const link_to of [`${appPage}/`, `${appPage}#x`, 'https://evil.example', 'javascript:alert(1)', ' '])
      expect([link_to, await refusal({ ...emailLogin(address), link_to })]).toEqual([
        link_to,
        [422, 'link_to redirect_not_allowed'],
      ]);
  expect(await refusal({ ...smsLogin(phone), link_to: appPage })).toEqual([422, 'link_to not_supported']);
  const off = await postern.another({ LOGIN_LINK: 'off' });
  try {
    expect(await refusal({ ...emailLogin(email), link_to: appPage }, off)).toEqual([422, 'link_to login_link_off']);
    const { body } = await off.api<Authentication>('POST', '/v1/tokens', { body: emailLogin(newEmail()) });
    expect(body.status).toBe('created');
  } finally {
    await off.close();
  }
});

test('the page needs no parts that are configured, and speaks the language of the browser', async () => {
  const page = await fetch(`${postern.url}/link`, { headers: { 'accept-language': 'es' } });
  const html = await page.text();
  expect(page.status).toBe(200);
  expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; .*script-src 'sha256-/);
  expect(page.headers.get('referrer-policy')).toBe('no-referrer');
  expect(html).toContain('<html lang="es">');
  expect(html).toContain('Escribe este código');
});
