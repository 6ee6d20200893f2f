import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import { byPassword, createSelfService } from '../support/account.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { raceRounds } from '../support/rounds.js';
import { login, passwordLogin } from '../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0' });
});
afterAll(() => postern.close());

const { person, signInAgain, ask, isLoggedIn } = createSelfService(() => postern);
const rounds = Array.from({ length: raceRounds }, (_, round) => round);

/** How many of these authentication tokens can still create a session. */
async function countUsable(authentications: readonly Authentication[]): Promise<number> {
  const tokens = authentications.flatMap(({ token }) => token ?? []);
  const answers = await Promise.all(tokens.map((basic) => postern.api('POST', '/v1/sessions', { basic })));
  return answers.filter(({ status }) => status === 201).length;
}

test('no login with the old password survives its change, whenever it was approved', async () => {
  for (const round of rounds) {
    const who = await person();
    const password = `nine dull horses ${round}`;
    const logins = Array.from({ length: 8 }, () => login(postern, who.user));
    const [changed, ...others] = await Promise.all([
      ask(who, 'PUT', '/password', { password, proof: byPassword }),
      ...logins,
    ]);
    expect(changed?.status).toBe(200);
    expect(await countUsable(others.map(({ body }) => body as unknown as Authentication))).toBe(0);
    expect(await isLoggedIn(who)).toBe(true);
    const renewed = await postern.api<Authentication>('POST', '/v1/tokens', {
      body: passwordLogin(who.user.username, password),
    });
    expect(renewed.body.status).toBe('approved');
  }
});

test('if two devices change the password in parallel, one stays logged in and the other is logged out', async () => {
  for (const round of rounds) {
    const who = await person();
    const other = await signInAgain(who.user);
    const change = (n: number) => ({ password: `nine dull horses ${round} ${n}`, proof: byPassword });
    const answers = await Promise.all([
      ask(who, 'PUT', '/password', change(1)),
      ask(other, 'PUT', '/password', change(2)),
    ]);
    const won = answers.map(({ status }) => status === 200);
    expect(won.filter(Boolean)).toHaveLength(1);
    expect([await isLoggedIn(who), await isLoggedIn(other)]).toEqual(won);
  }
});

test('a change in parallel with the logout of its session is either made and answered with 200, or refused', async () => {
  for (const _ of rounds) {
    const who = await person();
    const other = await signInAgain(who.user);
    const [changed, removed] = await Promise.all([
      ask(who, 'PUT', '/pin', { pin: '2468', proof: byPassword }),
      postern.api('DELETE', `/v1/tokens/${who.authenticationId}`, { bearer: other.bearer }),
    ]);
    expect(removed.status).toBe(200);
    expect([200, 401]).toContain(changed.status);
    const { body } = await ask<{ has_pin: boolean }>(other, 'GET', '');
    expect(body.has_pin).toBe(changed.status === 200);
  }
});
