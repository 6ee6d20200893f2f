// When a storage that cannot be read is read again, by clocks that the tests move.
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createLogin, createPostern, type PosternOptions, type PosternStorage } from '../../src/index.js';
import { settle, stopClocks } from '../fake/clocks.js';
import { createInboxService, storageOf } from '../fake/inbox-service.js';

// What a page loads later is loaded before the clocks stop.
beforeAll(() => import('../../src/login/steps.js'));

/** A client whose storage has a login, and fails or hangs while `isBroken`. */
function start(failure: () => Promise<never>, login: PosternStorage['get'] = storageOf('ada').get) {
  const clocks = stopClocks();
  const service = createInboxService(clocks.now);
  const wakers = new Set<() => void>();
  const shown: string[] = [];
  const errors: unknown[] = [];
  const reads: number[] = [];
  const page = { isBroken: true, resume: () => [...wakers].forEach((wake) => void wake()) };
  const kept = storageOf('ada');
  const options: PosternOptions = {
    ...{ url: 'https://auth.example.com', fetch: service.fetch, tabs: false },
    storage: {
      ...kept,
      get(key) {
        if (key !== 'postern.login') return kept.get(key);
        reads.push(Math.round(clocks.now()));
        return page.isBroken ? failure() : login(key);
      },
    },
    onResume(wake) {
      wakers.add(wake);
      return () => wakers.delete(wake);
    },
    onError: (error) => errors.push(error),
  };
  const postern = createPostern(options);
  postern.subscribe(({ status }) => shown.push(status));
  onTestFinished(() => postern.close());
  return { clocks, service, page, postern, shown, errors, reads, wakers };
}
const fails = () => Promise.reject(new Error('the disk is busy'));
const hangs = () => new Promise<never>(() => {});

test('a storage that fails is read again after 1, 2 and 4 seconds, and after ten onError gets it once', async () => {
  const { clocks, page, postern, shown, errors, reads, wakers } = start(fails);
  const ready = postern.ready().catch((error: unknown) => error);
  await clocks.advance(9900);
  expect(reads).toEqual([0, 1000, 3000, 7000]);
  expect([shown, errors]).toEqual([['starting'], []]);
  await clocks.advance(200);
  expect(reads).toEqual([0, 1000, 3000, 7000, 10_000]);
  expect(await ready).toMatchObject({ message: 'the disk is busy' });
  // Nothing repeats without the user: no timer is left.
  await clocks.advance(600_000, 10_000);
  expect([reads.length, errors.length, shown]).toEqual([5, 1, ['starting']]);
  // Each time the user comes back, until the storage works. The app has been told already.
  page.resume();
  await settle();
  expect([reads.length, errors.length, shown]).toEqual([6, 1, ['starting']]);
  page.isBroken = false;
  page.resume();
  await settle();
  expect(shown).toEqual(['starting', 'signed_in']);
  expect([reads.length, errors.length, wakers.size]).toEqual([7, 1, 0]);
});

test('a pause ends when the user comes back', async () => {
  const { clocks, page, shown, reads } = start(fails);
  await clocks.advance(1500);
  page.isBroken = false;
  page.resume();
  await settle();
  expect(reads).toEqual([0, 1000, 1500]);
  expect(shown).toEqual(['starting', 'signed_in']);
});

test('a storage that hangs is given up after ten seconds, and onError gets it once', async () => {
  const { clocks, page, postern, shown, errors } = start(hangs);
  const ready = postern.ready().catch((error: unknown) => error);
  await clocks.advance(9900);
  expect([shown, errors]).toEqual([['starting'], []]);
  await clocks.advance(200);
  expect(await ready).toMatchObject({ message: 'The storage hangs.' });
  expect([shown, errors.length]).toEqual([['starting'], 1]);
  page.isBroken = false;
  page.resume();
  await settle();
  expect(shown).toEqual(['starting', 'signed_in']);
});

describe('a login in memory, while the storage cannot be read,', () => {
  test.each([fails, hangs])('has sessions and is not signed out (%o)', async (failure) => {
    const { clocks, service, postern, page, shown } = start(failure);
    service.answer = (request) =>
      request === 'POST /v1/tokens'
        ? Response.json({ id: 'a', status: 'approved', token: 'new', user_id: 'ada', device_id: 'd' }, { status: 201 })
        : undefined;
    await clocks.advance(10_100);
    const done = createLogin(postern).start().password({ identity: 'ada', password: 'x' });
    await clocks.advance(100);
    expect((await done).step).toBe('done');
    expect((await postern.getSession())?.user_id).toBe('ada');
    page.resume();
    await clocks.advance(20_000, 500);
    expect(shown).toEqual(['starting', 'signed_in']);
  });
});
