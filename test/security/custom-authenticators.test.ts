import { randomInt } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import { type ApiAnswer, type ProblemAnswer, startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { createUser, passwordLogin } from '../support/users.js';

const secret = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;

interface Question {
  readonly type: string;
  readonly id: string;
  readonly authenticator: string;
  readonly authentication_id: string;
  readonly user: { readonly id: string; readonly username: string | null } | null;
  readonly secret?: string;
}
type Decide = (question: Question, response: ServerResponse, request: IncomingMessage) => unknown;

const approves = JSON.stringify({ approved: true });
/** Answers that approve nothing. A login chooses one by its secret. */
const failures: Record<string, Decide> = {
  'a redirect to an approving URL': (_question, response, { url }) =>
    url === '/approve' ? response.end(approves) : response.writeHead(307, { location: '/approve' }).end(approves),
  'another 2xx status': (_question, response) => response.writeHead(201).end(approves),
  'no content': (_question, response) => response.writeHead(204).end(),
  'a 401': (_question, response) => response.writeHead(401).end(approves),
  'a 500': (_question, response) => response.writeHead(500).end(approves),
  'too many requests': (_question, response) => response.writeHead(429).end(approves),
  'the text true': (_question, response) => response.end('true'),
  'the string "true"': (_question, response) => response.end('{"approved":"true"}'),
  'the number 1': (_question, response) => response.end('{"approved":1}'),
  'an array': (_question, response) => response.end(`[${approves}]`),
  'a nested object': (_question, response) => response.end(`{"result":${approves}}`),
  'a capitalized name': (_question, response) => response.end('{"Approved":true}'),
  'an empty body': (_question, response) => response.end(),
  rubbish: (_question, response) => response.end(Buffer.from([0, 255, 254, 123, 125])),
  'incomplete JSON': (_question, response) => response.end(approves.slice(0, -1)),
  'a response over the size limit': (_question, response) =>
    response.end(`{"approved":true,"x":"${'x'.repeat(70_000)}"}`),
  'a body shorter than its length': (_question, response) => {
    response.writeHead(200, { 'content-length': '1000' }).write(approves);
    response.destroy();
  },
  'a response without a length that ends with a reset': (_question, { socket }) =>
    socket?.write(`HTTP/1.1 200 OK\r\n\r\n${approves}`, () => socket.resetAndDestroy()),
  'a chunked body without the last chunk': (_question, response) => {
    response.write(approves, () => response.socket?.end());
  },
  'a broken connection': (_question, response) => response.destroy(),
};

const questions: Question[] = [];
/** `right` is the correct secret of every user. */
const decideBySecret: Decide = (question, response) =>
  response.end(JSON.stringify({ approved: question.secret === 'right' }));
let decide = decideBySecret;

/** The operator's service. It refuses requests without a valid signature. */
const service = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const question = new Webhook(secret).verify(
    Buffer.concat(chunks).toString(),
    request.headers as Record<string, string>,
  ) as Question;
  expect(request.headers['webhook-id']).toBe(question.id);
  questions.push(question);
  const answerIt = failures[question.secret ?? ''] ?? decide;
  answerIt(question, response, request);
});

let postern: TestApp;
/** The same with five guesses for each account. */
let withGuessLimit: TestApp;
beforeAll(async () => {
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}/decide?tenant=1`;
  postern = await startTestApp({
    ...{ ALLOW_PRIVATE_NETWORK_TARGETS: 'true', LOGIN_LIMIT_PER_ADDRESS: '0', GUESS_LIMIT: '1000' },
    CUSTOM_AUTHENTICATORS: JSON.stringify({ badge: { url, secret }, call: { url, secret, steps: 2 } }),
  });
  withGuessLimit = await postern.another({ GUESS_LIMIT: '5' });
});
afterAll(async () => {
  await withGuessLimit.close();
  await postern.close();
  service.closeAllConnections();
  await new Promise((resolve) => service.close(resolve));
});
/** Before each test that looks at all questions. */
const forgetQuestions = () => {
  decide = decideBySecret;
  questions.length = 0;
};

type Body = Authentication & Pick<ProblemAnswer, 'errors'>;
const nobody = () => `nobody${randomInt(1e12)}`;
const login = (name: string | null, given: string, authenticator = 'badge', { app = postern, pin = '' } = {}) =>
  app.api<Body>('POST', '/v1/tokens', {
    body: {
      ...{ identity: { type: 'username', value: name }, authenticator: `custom:${authenticator}` },
      ...{ secret: given, device: {}, ...(pin !== '' && { pin }) },
    },
  });
const answer = (id: string, given: string, pin = '2468', app = postern) =>
  app.api<Body>('POST', `/v1/tokens/${id}/secret`, { body: { secret: given, pin } });
const outcome = ({ status, body }: ApiAnswer<Body>) => (status === 201 ? body.status : status);

/** The same rules apply to one and two steps. `refused` is the response to a wrong secret. */
const kinds = [
  {
    kind: 'one step',
    refused: 'rejected' as string | number,
    attempt: (name: string | null, given: string, pin?: string) =>
      login(name, given, 'badge', { app: withGuessLimit, ...(pin !== undefined && { pin }) }),
  },
  {
    kind: 'two steps',
    refused: 400 as string | number,
    attempt: async (name: string | null, given: string, pin?: string) => {
      const started = await login(name, 'ignored', 'call', { app: withGuessLimit });
      // Four logins of an address start at a time. Later ones may find a locked account.
      return started.status === 201 ? answer(started.body.id, given, pin, withGuessLimit) : started;
    },
  },
];

describe.each(kinds)('a service of the operator in $kind', ({ attempt, refused }) => {
  beforeEach(forgetQuestions);
  const fiveTimes = <T>(work: () => Promise<T>) => Promise.all(Array.from({ length: 5 }, work));

  test('shares the guess budget of the account: five wrong secrets lock it for every authenticator', async () => {
    const { username } = await createUser(postern);
    expect((await fiveTimes(() => attempt(username, 'wrong'))).map(outcome)).toEqual(Array(5).fill(refused));
    const locked = await attempt(username, 'right');
    expect(outcome(locked)).toBe(423);
    expect(locked.headers['retry-after']).toMatch(/^\d+$/);
    const byPassword = await withGuessLimit.api('POST', '/v1/tokens', { body: passwordLogin(username) });
    expect(byPassword.status).toBe(423);
  });

  test('that fails for a secret counts as a wrong guess, for known and unknown users', async () => {
    const { username } = await createUser(postern);
    decide = (question, response, request) =>
      question.secret === 'fails' ? response.writeHead(500).end() : decideBySecret(question, response, request);
    const eachUser = [username, nobody()].map(async (name) => {
      for (const failed of await fiveTimes(() => attempt(name, 'fails'))) expect(failed.status).toBe(503);
      expect(outcome(await attempt(name, 'right'))).toBe(423);
    });
    await Promise.all(eachUser);
  });

  test('is asked about five of many parallel wrong secrets', async () => {
    const { username } = await createUser(postern);
    const answers = await Promise.all(Array.from({ length: 20 }, () => attempt(username, 'wrong')));
    expect(answers.filter((one) => outcome(one) === refused)).toHaveLength(5);
    expect(questions.filter(({ secret: given }) => given === 'wrong')).toHaveLength(5);
    expect(outcome(await attempt(username, 'right'))).toBe(423);
  });

  test('approves nobody without the right PIN, and no locked or deactivated user', async () => {
    const withPin = await createUser(postern, { pin: '2468' });
    expect(outcome(await attempt(withPin.username, 'right', '1357'))).toBe(refused);
    expect(outcome(await attempt(withPin.username, 'right', '2468'))).toBe('approved');
    const [locked, gone] = [await createUser(postern), await createUser(postern)];
    const bearer = postern.adminKey;
    await postern.api('POST', `/admin/v1/users/${locked.id}/lock`, { bearer, body: { permanent: true } });
    await postern.api('PATCH', `/admin/v1/users/${gone.id}`, { bearer, body: { status: 'deactivated' } });
    expect(outcome(await attempt(locked.username, 'wrong'))).toBe(refused);
    expect(outcome(await attempt(locked.username, 'right'))).toBe(403);
    expect(outcome(await attempt(gone.username, 'right'))).toBe(refused);
  });
});

// At the same time, because each answer waits for half a second.
describe.concurrent('a service of the operator that answers with', () => {
  test.each(Object.keys(failures))('%s approves nothing, and the answer is 503', async (failure) => {
    const { username } = await createUser(postern, { password: undefined });
    const answers = await Promise.all([login(username, failure), login(nobody(), failure)]);
    for (const { status, headers, body } of answers) {
      expect([status, headers['retry-after'], body.errors[0]?.code]).toEqual([503, '5', 'authenticator_unavailable']);
    }
    expect(questions.filter((question) => question.secret === failure)).toHaveLength(2);
  });
});

describe('a service of the operator', () => {
  beforeEach(forgetQuestions);

  test('decides a one-step login by user and secret', async () => {
    const user = await createUser(postern, { email: `${nobody()}@example.com`, locale: 'en' });
    const approved = await login(user.username, 'right');
    expect(outcome(approved)).toBe('approved');
    expect(outcome(await login(user.username, 'wrong'))).toBe('rejected');
    const { id, username, email } = user;
    expect(questions[0]).toEqual({
      ...{ type: 'authenticator.verify', id: expect.any(String), authenticator: 'custom:badge' },
      ...{ authentication_id: approved.body.id, secret: 'right' },
      user: { id, username, email, phone: null, locale: 'en' },
    });
    expect(questions[1]?.id).not.toBe(questions[0]?.id);
  });

  test('receives the start of a two-step login, and decides the second step', async () => {
    const { id, username } = await createUser(postern, { pin: '2468' });
    const { body } = await login(username, 'ignored', 'call');
    expect(body.status).toBe('pending');
    expect(questions[0]).toEqual({
      ...{ type: 'authenticator.begin', id: expect.any(String), authenticator: 'custom:call' },
      ...{ authentication_id: body.id, user: { id, username, email: null, phone: null, locale: null } },
    });
    expect(outcome(await answer(body.id, 'wrong'))).toBe(400);
    expect(outcome(await answer(body.id, 'right', '1357'))).toBe(400);
    expect(outcome(await answer(body.id, 'right'))).toBe('approved');
    expect(questions.map(({ type, authentication_id }) => [type, authentication_id]).slice(1)).toEqual(
      Array(3).fill(['authenticator.verify', body.id]),
    );
  });

  test('is called for unknown users too, and cannot approve them', async () => {
    expect(outcome(await login(nobody(), 'right'))).toBe('rejected');
    const { body } = await login(nobody(), 'x', 'call');
    expect(outcome(await answer(body.id, 'right'))).toBe(400);
    expect(questions.map(({ type, user }) => [type, user])).toEqual([
      ['authenticator.verify', null],
      ['authenticator.begin', null],
      ['authenticator.verify', null],
    ]);
  });

  test('with a late or trickling response approves nothing and delays no other login', async () => {
    const { username } = await createUser(postern);
    // The time limits of the calls, which end when this test says so.
    const limits: { readonly milliseconds: number; readonly call: AbortController }[] = [];
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation((milliseconds) => {
      const call = new AbortController();
      limits.push({ milliseconds, call });
      return call.signal;
    });
    onTestFinished(() => timeout.mockRestore());
    const drips: NodeJS.Timeout[] = [];
    onTestFinished(() => drips.forEach(clearInterval));
    decide = (question, response) => {
      if (question.secret === 'hang') return;
      let left = `   ${JSON.stringify({ approved: true })}`.padEnd(100, ' ');
      const drip = setInterval(() => {
        response.write(left[0]);
        left = left.slice(1);
      }, 50);
      drips.push(drip);
    };
    const finished: string[] = [];
    const slow = ['hang', 'drip'].map(async (given) => {
      const { status } = await login(username, given);
      finished.push(given);
      return status;
    });
    const { username: other } = await createUser(postern);
    await eventually('both to be asked about', async () => (questions.length === 2 ? true : undefined));
    decide = (question, response, request) =>
      question.user?.username === other ? decideBySecret(question, response, request) : undefined;
    expect(outcome(await login(other, 'right'))).toBe('approved');
    expect(finished).toEqual([]);
    expect(limits.map(({ milliseconds }) => milliseconds)).toEqual(Array(3).fill(10_000));
    for (const { call } of limits) call.abort(new DOMException('too late', 'TimeoutError'));
    expect(await Promise.all(slow)).toEqual([503, 503]);
  });

  test.each(['badge', 'call'])(
    'with custom:%s that answers at once is waited for, with and without a user',
    async (name) => {
      const { username } = await createUser(postern);
      // The first login of a process takes longer.
      expect(outcome(await login(username, 'right'))).toBe('approved');
      const times: number[] = [];
      const timed = async <T>(request: Promise<T>): Promise<T> => {
        const since = performance.now();
        const result = await request;
        times.push(performance.now() - since);
        return result;
      };
      for (const user of [username, nobody()]) {
        const { body } = await timed(login(user, 'wrong', name));
        if (name === 'call') await timed(answer(body.id, 'wrong'));
      }
      // Less a millisecond or two, by which timers of Node.js may be early.
      for (const time of times) expect(time).toBeGreaterThan(495);
    },
  );

  test('leaves neither its own secret nor a login’s secret in log and configuration', () => {
    const everything = `${postern.logged.join('\n')}${JSON.stringify(postern.config)}`;
    expect(everything).toContain('custom:badge answered 500');
    for (const kept of [secret, secret.slice(6), '"secret":"right"']) expect(everything).not.toContain(kept);
  });
});
