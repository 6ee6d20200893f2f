import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { expect, test } from 'vitest';
import { Problem } from '../../../src/lib/problem.js';
import { createRender } from '../../../src/notifications/images/render.js';
import { decoders, noise, plain } from '../../support/image-fixtures.js';

const enough = { userId: undefined, remainingMs: () => 60_000 };

test('one file is decoded at a time, a few wait, and further files are refused at once', async () => {
  const render = createRender({ waitMs: 60_000 });
  const file = await plain(20, 20).png().toBuffer();
  // The first one also starts the decoder.
  await render(file, enough);
  const acts = await Promise.allSettled(Array.from({ length: 12 }, () => render(file, enough)));
  const refused = acts.flatMap((act) => (act.status === 'rejected' ? [act.reason] : []));
  expect(acts.map(({ status }) => status).indexOf('rejected')).toBe(9);
  expect(refused).toHaveLength(3);
  for (const reason of refused) {
    expect(reason).toBeInstanceOf(Problem);
    expect(reason).toMatchObject({ code: 'overloaded', options: { retryAfter: 1 } });
  }
  expect(Object.keys(await render(file, enough))).toEqual(['card', 'full', 'thumbnail']);
});

test("a user's files wait for each other, so another user's file waits for one of them at most", async () => {
  const render = createRender({ waitMs: 60_000 });
  const small = await plain(20, 20).png().toBuffer();
  await render(small, enough);
  const ended: string[] = [];
  const upload = (userId: string) => render(small, { ...enough, userId }).then(() => ended.push(userId));
  await Promise.all([upload('busy'), upload('busy'), upload('busy'), upload('busy'), upload('other')]);
  expect(ended).toEqual(['busy', 'other', 'busy', 'busy', 'busy']);
});

test('a file that is not decoded in time ends the decoder, and the next file gets a new one', async () => {
  const render = createRender({ waitMs: 60_000 });
  const before = decoders();
  const file = await plain(20, 20).png().toBuffer();
  await render(file, enough);
  const [decoder] = decoders().filter((pid) => !before.includes(pid));
  process.kill(decoder ?? 0, 'SIGSTOP');
  let checks = 0;
  const remainingMs = () => {
    checks += 1;
    if (checks === 2) throw new Problem('image_not_stored');
    return 10;
  };
  await expect(render(file, { userId: undefined, remainingMs })).rejects.toMatchObject({ code: 'image_not_stored' });
  expect(Object.keys(await render(file, enough))).toEqual(['card', 'full', 'thumbnail']);
  expect(decoders()).not.toContain(decoder);
});

test('no file is decoded after the time limit', async () => {
  const render = createRender({ waitMs: 60_000 });
  const remainingMs = () => {
    throw new Problem('image_not_stored');
  };
  const file = await plain(20, 20).png().toBuffer();
  await expect(render(file, { userId: undefined, remainingMs })).rejects.toMatchObject({ code: 'image_not_stored' });
});

test.runIf(process.platform === 'linux')(
  'the decoder and all its threads have a low priority, and none of the environment',
  async () => {
    const render = createRender({ waitMs: 60_000 });
    const before = decoders();
    await render(await noise(300, 200).jpeg().toBuffer(), enough);
    const [decoder = 0] = decoders().filter((pid) => !before.includes(pid));
    const threads = readdirSync(`/proc/${decoder}/task`).map(Number);
    expect(threads.length).toBeGreaterThan(4);
    expect(new Set(threads.map((thread) => getPriority(thread)))).toEqual(new Set([10]));
    // Node.js adds these for its channel to the process.
    const names = readFileSync(`/proc/${decoder}/environ`, 'latin1').match(/[^\0]+(?==)/g);
    expect(names?.filter((name) => !name.startsWith('NODE_CHANNEL_'))).toEqual([]);
  },
);

test('a decoder that is killed from outside refuses its file with overloaded, and a crash with invalid_image', async () => {
  const render = createRender({ waitMs: 60_000 });
  const before = decoders();
  const file = await plain(20, 20).png().toBuffer();
  for (const [signal, code] of [
    ['SIGKILL', 'overloaded'],
    ['SIGSEGV', 'invalid_image'],
  ] as const) {
    await render(file, enough);
    const [decoder = 0] = decoders().filter((pid) => !before.includes(pid));
    process.kill(decoder, 'SIGSTOP');
    const refused = expect(render(file, enough)).rejects.toMatchObject({ code });
    process.kill(decoder, signal);
    process.kill(decoder, 'SIGCONT');
    await refused;
  }
  expect(Object.keys(await render(file, enough))).toEqual(['card', 'full', 'thumbnail']);
});
