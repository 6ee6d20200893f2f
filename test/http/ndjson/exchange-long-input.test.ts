import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { openLineStream } from '../../support/ndjson-stream.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

const senders = 4;
/** Sends one request after the other on one connection. @returns the number of responses until `isDone` */
async function countAnswers(isDone: () => boolean): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let answers = 0;
  while (!isDone()) {
    const [response] = await once(get(`${postern.url}/livez`, { agent }), 'response');
    response.resume();
    await once(response, 'end');
    answers += 1;
  }
  agent.destroy();
  return answers;
}

test.each([
  // So short that one read returns 65,536 of them: a loop without pauses would block the event loop.
  { name: 'empty lines', path: '/admin/v1/notifications', line: '\n', lines: 131_072, minAnswers: 9 },
  { name: 'empty lines of an import', path: '/admin/v1/users/import', line: '\n', lines: 131_072, minAnswers: 9 },
  {
    name: 'lines that are no notification',
    path: '/admin/v1/notifications',
    line: '{}\n',
    lines: 5000,
    minAnswers: 11,
  },
])('other requests are answered while $name are sent', async ({ path, line, lines, minAnswers }) => {
  let unfinishedSenders = senders;
  const send = async () => {
    const stream = openLineStream(postern, { path });
    const reading = stream.rest();
    await stream.send(line.repeat(lines));
    stream.end();
    await reading;
    unfinishedSenders -= 1;
  };
  const [answers] = await Promise.all([
    countAnswers(() => unfinishedSenders === 0),
    ...Array.from({ length: senders }, send),
  ]);
  // Without pauses, the chunks of all senders are processed between two responses.
  expect(answers).toBeGreaterThanOrEqual(minAnswers);
});
