// Step-up with a real API: Express behind the middleware of `@postern/server`.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { createFactors } from '../../../../test/support/factors.js';
import { testSql } from '../../../../test/support/sql.js';
import { password } from '../../../../test/support/users.js';
import { createPosternServer, expressSession, sessionOf } from '../../../server/src/index.js';
import {
  createAccount,
  createLogin,
  enableStepUp,
  memoryStorage,
  type Postern,
  type ProofRequest,
  type Prover,
  passwordProof,
  stepUp,
  totpProof,
} from '../../src/index.js';
import { clientOf, createNetwork, signedIn } from '../support.js';

let app: TestApp;
let api: Server;
let url: string;
/** The requests that reached a route of the API. */
const paid: { readonly by: string; readonly body: unknown }[] = [];
beforeAll(async () => {
  app = await startTestApp({
    LOGIN_LIMIT_PER_ADDRESS: '0',
    CODE_LIMIT_PER_ADDRESS: '0',
    PIN_POLICY: 'off',
    GUESTS: 'on',
  });
  const postern = createPosternServer({ url: app.url });
  const site = express();
  const pay: express.RequestHandler = (request, response) => {
    paid.push({ by: sessionOf(request).user_id, body: request.body });
    response.json({ paid: true });
  };
  site.post('/payments', expressSession(postern, { within: '10m' }), express.json(), pay);
  site.post('/transfers', expressSession(postern, { within: '10m', factor: true }), express.json(), pay);
  api = createServer(site);
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await app?.close();
  api?.closeAllConnections();
  api?.close();
});
const { appOf } = createFactors(() => app);

const clients: Postern[] = [];
afterEach(() => {
  paid.length = 0;
  for (const client of clients.splice(0)) client.close();
});

/** A user who logged in 11 minutes ago. */
async function visitor(options: Parameters<typeof signedIn>[1] = {}) {
  const visit = await signedIn(app, { trustedOrigins: [url], ...options });
  clients.push(visit.postern);
  await makeOld(visit.user.id);
  return visit;
}
const makeOld = (userId: string) =>
  app.database.query(
    testSql("update authentications set approved_at = approved_at - interval '11 minutes' where user_id = $1", [
      userId,
    ]),
  );
const pay = (postern: Postern, path = '/payments', init: RequestInit = {}) =>
  postern.fetch(url + path, {
    ...{ method: 'POST', body: '{"amount":7}', headers: { 'content-type': 'application/json' } },
    ...init,
  });

/** A dialog that answers with the password, and records what it was asked. */
function passwordDialog(...answers: (string | null)[]) {
  const asked: ProofRequest[] = [];
  const prove: Prover = async (request) => {
    asked.push(request);
    const answer = answers.length > 0 ? answers.shift() : password;
    return answer === null ? null : passwordProof(answer ?? password);
  };
  return { asked, prove };
}
const statusOf = (session: string | undefined) =>
  app.api('POST', '/v1/sessions/verify', { bearer: session ?? '' }).then(({ status }) => status);

describe('postern.fetch', () => {
  test('asks for a proof if the API wants one, and repeats the request with its body and the new session', async () => {
    const { postern, user } = await visitor();
    const { asked, prove } = passwordDialog('not this one');
    enableStepUp(postern, { prove });
    const former = await postern.getSession();
    expect((await pay(postern)).status).toBe(200);
    expect(paid).toEqual([{ by: user.id, body: { amount: 7 } }]);
    expect(asked.map(({ operation, problem }) => [operation, problem?.code])).toEqual([
      ['step_up', undefined],
      ['step_up', 'proof_rejected'],
    ]);
    expect(asked.every(({ signal }) => signal?.aborted)).toBe(true);
    const next = await postern.getSession();
    expect(next).toMatchObject({ user_id: user.id, expires_at: former?.expires_at });
    expect(next?.id).not.toBe(former?.id);
    expect([await statusOf(former?.token), await statusOf(next?.token)]).toEqual([401, 200]);
    expect((await pay(postern)).status).toBe(200);
    expect(asked).toHaveLength(2);
  });

  test('answers 401 if no dialog is there, and again after it was taken away', async () => {
    const { postern } = await visitor();
    const { asked, prove } = passwordDialog();
    expect((await pay(postern)).status).toBe(401);
    enableStepUp(postern, { prove })();
    expect((await pay(postern)).status).toBe(401);
    expect([asked, paid]).toEqual([[], []]);
  });

  test('shares one proof among requests at the same time, also with one that is refused only after it', async () => {
    const { postern } = await visitor();
    const { asked, prove } = passwordDialog();
    enableStepUp(postern, { prove });
    let release = () => {};
    const late = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = await sendWithLateAnswer(postern, late);
    const answers = await Promise.all(Array.from({ length: 20 }, () => pay(postern)));
    release();
    expect([...answers, await slow.answer].map(({ status }) => status)).toEqual(Array.from({ length: 21 }, () => 200));
    expect([asked.length, paid.length]).toEqual([1, 21]);
  });

  test('rejects each waiting request once if the user refuses, and the next one asks again', async () => {
    const { postern } = await visitor();
    const { asked, prove } = passwordDialog(null);
    enableStepUp(postern, { prove });
    const results = await Promise.allSettled([pay(postern), pay(postern), pay(postern)]);
    expect(results.map((result) => result.status === 'rejected' && result.reason.kind)).toEqual(
      Array.from({ length: 3 }, () => 'cancelled'),
    );
    expect([asked.length, paid]).toEqual([1, []]);
    expect((await pay(postern)).status).toBe(200);
  });

  test('leaves the dialog to the other requests if the signal of one aborts', async () => {
    const { postern } = await visitor();
    let isAsked = () => {};
    let answer = () => {};
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    enableStepUp(postern, {
      prove: () =>
        new Promise((resolve) => {
          answer = () => resolve(passwordProof(password));
          isAsked();
        }),
    });
    const controller = new AbortController();
    const given = pay(postern, '/payments', { signal: controller.signal });
    const other = pay(postern);
    await asked;
    controller.abort();
    await expect(given).rejects.toMatchObject({ name: 'AbortError' });
    answer();
    expect((await other).status).toBe(200);
  });

  test('gives a request with a stream as its body the 401, because it cannot be sent again', async () => {
    const { postern } = await visitor();
    const { asked, prove } = passwordDialog();
    enableStepUp(postern, { prove });
    const body = new Blob(['{}']).stream();
    const answer = await pay(postern, '/payments', { body, duplex: 'half' } as RequestInit);
    expect([answer.status, asked]).toEqual([401, []]);
  });

  test('returns the 401 of an API that is not content with the proof, after one question', async () => {
    const { postern } = await visitor({
      fetch: (input, init) =>
        `${input}` === `${url}/payments`
          ? Promise.resolve(
              new Response('', {
                status: 401,
                headers: { 'www-authenticate': 'Bearer error="insufficient_user_authentication", max_age="5"' },
              }),
            )
          : fetch(input, init),
    });
    const { asked, prove } = passwordDialog();
    enableStepUp(postern, { prove });
    expect([(await pay(postern)).status, asked.length]).toEqual([401, 1]);
  });

  test('does not repeat the request as another user who has logged in meanwhile', async () => {
    const storage = memoryStorage();
    const { postern } = await visitor({ storage });
    const { user: other } = await signedIn(app);
    enableStepUp(postern, {
      async prove() {
        const next = clientOf(app, { storage });
        clients.push(next);
        await createLogin(postern)
          .start()
          .password({ identity: other.username ?? '', password });
        return passwordProof(password);
      },
    });
    await expect(pay(postern)).rejects.toMatchObject({ kind: 'signed_out' });
    expect(paid).toEqual([]);
  });

  test.each([
    ['', false],
    [', and has proven it', true],
  ])('asks no other user, who has logged in before the refusal arrived%s, and repeats nothing', async (_, isProven) => {
    const { postern } = await visitor();
    const { user: other } = await signedIn(app);
    const { asked, prove } = passwordDialog();
    enableStepUp(postern, { prove });
    let release = () => {};
    const late = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = await sendWithLateAnswer(postern, late);
    await createLogin(postern)
      .start()
      .password({ identity: other.username ?? '', password });
    await makeOld(other.id);
    if (isProven) expect((await pay(postern)).status).toBe(200);
    release();
    await expect(slow.answer).rejects.toMatchObject({ kind: 'signed_out' });
    expect([asked.length, paid.map(({ by }) => by)]).toEqual(isProven ? [1, [other.id]] : [0, []]);
  });
});

/** Sends a request, whose refusal comes only when `late` resolves. */
async function sendWithLateAnswer(
  postern: Postern,
  late: Promise<void>,
): Promise<{ readonly answer: Promise<Response> }> {
  const original = globalThis.fetch;
  let isSent = () => {};
  const sent = new Promise<void>((resolve) => {
    isSent = resolve;
  });
  globalThis.fetch = async (input, init) => {
    if (`${input}` !== `${url}/payments`) return original(input, init);
    globalThis.fetch = original;
    isSent();
    const answer = await original(input, init);
    await late;
    return answer;
  };
  const answer = pay(postern);
  await sent;
  return { answer };
}

describe('a second factor', () => {
  test('that the user has not set up: the request rejects with `enrolment_required`, and nobody is asked', async () => {
    const { postern } = await visitor();
    const { asked, prove } = passwordDialog();
    enableStepUp(postern, { prove });
    await expect(pay(postern, '/transfers')).rejects.toMatchObject({
      kind: 'enrolment_required',
      code: 'enrolment_required',
    });
    expect(asked).toEqual([]);
  });

  test('is asked for where the API wants one, and only the proofs that add it are offered', async () => {
    const { postern, user } = await visitor();
    const proof = passwordProof(password);
    const pending = await createAccount(postern).enrolTotp({ proof });
    const totp = appOf(user.id, pending.secret);
    await pending.confirm(await totp.code());
    await totp.rewind();
    const asked: string[][] = [];
    enableStepUp(postern, {
      async prove({ choices }) {
        asked.push(choices.map(({ type }) => type));
        return totpProof(await totp.code());
      },
    });
    expect((await pay(postern, '/transfers')).status).toBe(200);
    expect(asked).toEqual([['totp']]);
  });

  test('a guest has nothing to prove: `enrolment_required`', async () => {
    const postern = clientOf(app, { trustedOrigins: [url] });
    clients.push(postern);
    await createLogin(postern).start().guest();
    const state = await postern.ready();
    await makeOld('user_id' in state ? state.user_id : '');
    enableStepUp(postern, passwordDialog());
    await expect(pay(postern)).rejects.toMatchObject({ kind: 'enrolment_required' });
  });
});

describe('stepUp', () => {
  test('sends the proof of one user never as another one, who has logged in while the dialog was open', async () => {
    const network = createNetwork();
    const { postern } = await visitor({ fetch: network.fetch });
    const { user: other } = await signedIn(app);
    await expect(
      stepUp(postern, {
        async prove() {
          await createLogin(postern)
            .start()
            .password({ identity: other.username ?? '', password });
          return passwordProof(password);
        },
      }),
    ).rejects.toMatchObject({ kind: 'signed_out' });
    expect(network.count('PUT /v1/account/session-proof')).toBe(0);
  });

  test('rejects if nobody is signed in, and sends nothing', async () => {
    const postern = clientOf(app);
    clients.push(postern);
    const { asked, prove } = passwordDialog();
    await expect(stepUp(postern, { prove })).rejects.toMatchObject({ kind: 'signed_out' });
    expect(asked).toEqual([]);
  });

  test('a proof in one tab closes the dialog of another tab of the same login, and both go on', async () => {
    const storage = memoryStorage();
    const { postern } = await visitor({ storage });
    const other = clientOf(app, { storage, trustedOrigins: [url] });
    clients.push(other);
    let isAsked = () => {};
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    enableStepUp(other, {
      // The user never answers this one.
      prove: ({ signal }) =>
        new Promise((resolve) => {
          signal?.addEventListener('abort', () => resolve(null));
          isAsked();
        }),
    });
    const waiting = pay(other);
    await asked;
    await stepUp(postern, passwordDialog());
    expect((await waiting).status).toBe(200);
  });

  test('a proof of another login in another tab changes nothing here', async () => {
    const { postern } = await visitor();
    const { postern: stranger } = await visitor();
    let isAsked = () => {};
    let answer = () => {};
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    let isClosed = false;
    enableStepUp(postern, {
      prove: ({ signal }) =>
        new Promise((resolve) => {
          signal?.addEventListener('abort', () => {
            isClosed = true;
          });
          answer = () => resolve(passwordProof(password));
          isAsked();
        }),
    });
    const waiting = pay(postern);
    await asked;
    await stepUp(stranger, passwordDialog());
    expect(isClosed).toBe(false);
    answer();
    expect((await waiting).status).toBe(200);
  });
});
