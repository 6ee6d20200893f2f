import { createECDH, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import webPush from 'web-push';
import { startTestApp, type TestApp } from '../../../test/support/app.js';
import { createDevices, enableWebPush, parsePush, registerPush, type WebPushWorker } from '../src/index.js';
import { signedIn } from './support.js';

const { publicKey, privateKey } = webPush.generateVAPIDKeys();
let app: TestApp;
let withoutPush: TestApp;
beforeAll(async () => {
  const limits = { LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' };
  app = await startTestApp({
    ...limits,
    VAPID_PUBLIC_KEY: publicKey,
    VAPID_PRIVATE_KEY: privateKey,
    VAPID_SUBJECT: 'mailto:a@example.com',
  });
  withoutPush = await startTestApp(limits);
});
afterAll(async () => {
  await app.close();
  await withoutPush.close();
});

/** The push manager of a browser. */
function workerOf(subscribe: () => Promise<{ toJSON(): object }>) {
  const asked: object[] = [];
  const worker: WebPushWorker = {
    pushManager: {
      subscribe(options) {
        asked.push(options);
        return subscribe();
      },
    },
  };
  return { asked, worker };
}
const subscription = async () => ({
  toJSON: () => ({
    endpoint: 'https://push.example.com/abc',
    keys: {
      p256dh: createECDH('prime256v1').generateKeys('base64url'),
      auth: randomBytes(16).toString('base64url'),
    },
  }),
});

describe('Web Push', () => {
  test('subscribes the browser with the key of the service, and registers it', async () => {
    const { postern } = await signedIn(app);
    const { asked, worker } = workerOf(subscription);
    expect(await enableWebPush(postern, worker)).toMatchObject({ type: 'web', channel: 'web_push', enabled: true });
    expect(asked).toEqual([{ userVisibleOnly: true, applicationServerKey: publicKey }]);
    expect(await createDevices(postern).get('current')).toMatchObject({ push: { web: true } });
  });

  test('that is not configured is null, and the browser is not asked', async () => {
    const { postern } = await signedIn(withoutPush);
    const { asked, worker } = workerOf(subscription);
    expect(await enableWebPush(postern, worker)).toBeNull();
    expect(asked).toEqual([]);
  });

  test('that the user refuses is null', async () => {
    const { postern } = await signedIn(app);
    const refuse = () => Promise.reject(new DOMException('denied', 'NotAllowedError'));
    expect(await enableWebPush(postern, workerOf(refuse).worker)).toBeNull();
  });

  test.each(['AbortError', 'NotSupportedError'])(
    'in a browser without a push service (%s) is unsupported',
    async (name) => {
      const { postern } = await signedIn(app);
      const fail = () => Promise.reject(new DOMException('no service', name));
      await expect(enableWebPush(postern, workerOf(fail).worker)).rejects.toMatchObject({ kind: 'unsupported' });
      const withoutManager = {} as WebPushWorker;
      await expect(enableWebPush(postern, withoutManager)).rejects.toMatchObject({ kind: 'unsupported' });
    },
  );

  test('with another key than before subscribes again', async () => {
    const { postern } = await signedIn(app);
    let isSubscribed = true;
    const { asked, worker } = workerOf(() =>
      isSubscribed ? Promise.reject(new DOMException('another key', 'InvalidStateError')) : subscription(),
    );
    const getSubscription = async () => ({
      async unsubscribe() {
        isSubscribed = false;
        return true;
      },
    });
    const withFormerKey = { pushManager: { ...worker.pushManager, getSubscription } };
    expect(await enableWebPush(postern, withFormerKey)).toMatchObject({ type: 'web', enabled: true });
    expect(asked).toHaveLength(2);
  });

  test('passes on other errors of the browser, and the reason of the signal', async () => {
    const { postern } = await signedIn(app);
    const fail = () => Promise.reject(new TypeError('no such key'));
    await expect(enableWebPush(postern, workerOf(fail).worker)).rejects.toThrow('no such key');
    const controller = new AbortController();
    const abort = () => {
      controller.abort(new Error('left'));
      return Promise.reject(new DOMException('aborted', 'AbortError'));
    };
    const { signal } = controller;
    await expect(enableWebPush(postern, workerOf(abort).worker, { signal })).rejects.toThrow('left');
  });
});

test('a token of FCM is registered for this device', async () => {
  const { postern } = await signedIn(app);
  const registered = await registerPush(postern, {
    type: 'android',
    token: 'bk3RNwTe3H0:CI2k_HHwgIpoDKCIZvvDMExUdFQ3P1',
  });
  expect(registered).toMatchObject({ type: 'android', channel: 'fcm', enabled: false });
});

describe('the data of a push event', () => {
  const dataOf = (text: string) => ({ text: () => text });
  test('is read, and members of a newer service are kept', () => {
    const sent = { id: 'a', notification_type: 'payment', body: 'You paid', later: true };
    expect(parsePush(dataOf(JSON.stringify(sent)))).toEqual({
      ...sent,
      ...{ title: null, sequence: null, notification_key: null, tag: sent.id },
    });
    expect(parsePush(dataOf(JSON.stringify({ ...sent, tag: 'club-7' })))).toMatchObject({ id: sent.id, tag: 'club-7' });
  });

  test.each([
    ['missing', null],
    ['text', dataOf('hello')],
    ['other JSON', dataOf('{"id":5}')],
    ['null', dataOf('null')],
  ])('that is %s is null', (_name, data) => {
    expect(parsePush(data)).toBeNull();
  });
});
