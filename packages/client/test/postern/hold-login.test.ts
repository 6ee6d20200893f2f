// The app learns of a login only after a question to the user.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { createUser, password } from '../../../../test/support/users.js';
import { coreOf } from '../../src/core.js';
import { createAccount, createLogin, type Postern } from '../../src/index.js';
import { holdLogin } from '../../src/postern/hold-login.js';
import { clientOf } from '../support.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' });
});
afterAll(() => app.close());

/** A client whose user has logged in, and whose app does not know it yet. */
async function heldClient() {
  const user = await createUser(app);
  const postern = clientOf(app);
  await postern.ready();
  const heard: string[] = [];
  postern.onChange(({ status }) => heard.push(status));
  const hold = holdLogin(coreOf(postern));
  expect(hold.isWithheld()).toBe(false);
  const state = await logIn(postern, user.username ?? '');
  expect(hold.isWithheld()).toBe(true);
  return { postern, user, heard, state, hold };
}
const logIn = (postern: Postern, identity: string) => createLogin(postern).start().password({ identity, password });

test('the listeners hear of a held login when it is released, and requests use it before', async () => {
  const { postern, user, heard, state, hold } = await heldClient();
  expect(state).toMatchObject({ step: 'done', user_id: user.id });
  expect(await createAccount(postern).get()).toMatchObject({ id: user.id });
  await postern.getSession({ fresh: true });
  expect([postern.current.status, heard]).toEqual(['signed_out', []]);
  hold.release();
  expect(postern.current).toMatchObject({ status: 'signed_in', user_id: user.id });
  hold.release();
  expect(heard).toEqual(['signed_in']);
});

test('a logout ends a held login, and says so, because what asks the user must end', async () => {
  const { postern, heard, hold } = await heldClient();
  await postern.logOut();
  expect(heard).toEqual(['signed_out']);
  expect(await postern.getSession()).toBeNull();
  hold.release();
  expect(heard).toEqual(['signed_out']);
});

test('without a login, a hold changes nothing', async () => {
  const postern = clientOf(app);
  await postern.ready();
  holdLogin(coreOf(postern)).release();
  expect(postern.current.status).toBe('signed_out');
  const user = await createUser(app);
  await logIn(postern, user.username ?? '');
  expect(postern.current.status).toBe('signed_in');
});
