// Splitter's page. Everything that uses Postern in the browser is here.
import * as client from '@postern/client';
import { inbox as bell, button, form, show } from './view.js';

const postern = client.createPostern({ url: '/auth', storage: 'backend' });
const login = client.createLogin(postern, { resume: true });
const inbox = client.createInbox(postern);
const account = client.createAccount(postern, { prove });
const devices = client.createDevices(postern);
const offered = client.offeredLogins(postern);

async function signIn(state) {
  const note = state.issue?.message ?? '';
  switch (state.step) {
    case 'start':
      form('Sign in', ['name', 'password'], note, ({ name, password }) => state.password({ identity: name, password }));
      button('Text me a code', () => form('Your number', ['phone'], '', ({ phone }) => state.sms({ identity: phone })));
      button('Sign up', signUp);
      for (const { authenticator, title, takes_redirect } of (await offered).logins)
        if (takes_redirect && login.current.step === 'start')
          button(`Sign in with ${title}`, () => login.redirect(authenticator));
      break;
    case 'link':
      form('You have an account with this address', ['password'], note || 'Sign in to it once to link both.', (typed) =>
        state.submit({ authenticator: 'password', secret: typed.password }),
      );
      break;
    case 'refused':
      show(state.message);
      button('Back', state.restart);
      break;
    case 'code':
      form('The code that we sent', ['code'], note, state.submit);
      button('Send another', state.resend);
      break;
    case 'totp':
      form('The code of your app', ['code'], note, state.submit);
      if (state.recoveryCode)
        button('Use a recovery code', () =>
          form('A recovery code', ['code'], '', ({ code }) => state.recoveryCode(code)),
        );
      break;
    case 'locked':
      if (state.permanent) return show('This account is locked. Please write to us.');
      for await (const seconds of state.countdown()) show(`Too many attempts. Please wait ${seconds} s.`);
      state.back();
  }
}

function signUp() {
  form('Sign up', ['phone'], 'We send you a code.', async ({ phone }) => {
    const pending = await client.startRegistration(postern, { identity: phone });
    form('The code that we sent', ['code', 'name', 'password'], '', async ({ code, name, password }) => {
      await pending.complete({ code, username: name, password });
      await login.start().password({ identity: name, password });
    });
  });
}

async function api(path, body) {
  const headers = { 'content-type': 'application/json' };
  const answer = await postern.fetch(`/api/${path}`, body && { method: 'POST', headers, body: JSON.stringify(body) });
  const read = await answer.json();
  if (!answer.ok) throw new Error(read.message);
  return read;
}

async function home() {
  const bills = await api('bills');
  show(
    'Your bills',
    ...bills.map(
      ({ title, total, paid, owes }) => `${title}: ${total}, ${paid.length} of ${Object.keys(owes).length} paid`,
    ),
  );
  for (const { id, title } of bills) button(`Pay ${title}`, () => api(`bills/${id}/pay`, {}).then(home));
  button('New bill', () =>
    form(
      'New bill',
      ['title', 'total', 'friends', 'photo'],
      'Names of friends, with spaces between.',
      async (typed) => {
        const image = typed.photo.size > 0 ? await inbox.uploadImage(typed.photo) : undefined;
        const { title, total, friends } = typed;
        await api('bills', { title, total: Number(total), friends: friends.split(' '), image_id: image?.id });
        await home();
      },
    ),
  );
  button('Account', settings);
  button('Sign out', () => postern.logOut());
}

async function settings() {
  show('Your account');
  for await (const { id, os_name, current } of devices.list()) {
    button(`Sign out ${os_name ?? 'a device'}${current ? ' (this one)' : ''}`, () => devices.remove(id).then(settings));
  }
  button('Change the password', () =>
    form('A new password', ['current password', 'password'], '', async (typed) => {
      await account.setPassword(typed.password, { currentPassword: typed['current password'] });
      await home();
    }),
  );
  button('Add an authenticator app', async () => {
    const app = await account.enrolTotp();
    form('Your authenticator app', ['code'], `Type this key into the app: ${app.secret}`, async ({ code }) => {
      const { recovery_codes } = await app.confirm(code);
      show('Keep these recovery codes', ...recovery_codes);
      button('Done', home);
    });
  });
  button('Back', home);
}

/** Asks for a proof of who the user is. */
function prove({ choices, problem }) {
  const choice = choices.find(({ type }) => type === 'totp' || type === 'password');
  const note = problem?.detail ?? 'Please show that it is you.';
  const field = choice?.type === 'totp' ? 'code' : 'password';
  return new Promise((resolve) =>
    form(`Your ${field}`, [field], note, (typed) => resolve(choice?.prove(typed[field]) ?? null)),
  );
}

const view = client.createInboxView(postern, inbox, { limit: 20 });
view.subscribe((shown) => bell(shown, view));
login.onChange(signIn);
postern.subscribe((state) => {
  if (state.status === 'signed_out') signIn(login.start());
  if (state.status === 'signed_in') home();
  if (state.status === 'suspended') show(state.problem.detail);
});
await login.resumeRedirect();
