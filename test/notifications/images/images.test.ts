import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Notifications } from '../../../src/notifications/notifications.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { createInbox, createTestNotifications, errorsOf, input, publishAll } from '../../support/inbox.js';

let test: TestDatabase;
let notifications: Notifications;
let user: string;
beforeAll(async () => {
  test = await createTestDatabase();
  notifications = createTestNotifications(test.database);
  user = await createInbox(test.database);
});
afterAll(() => test.drop());

async function create(url: string) {
  const [notification] = await publishAll({ database: test.database, notifications }, [input(user, { image: url })]);
  return notification?.image;
}

describe('an image by URL', () => {
  it.each([
    'https://images.example.com/lunch.jpg',
    "https://images.example.com:8443/a/b-c_d.e~f;g=h,i'(j)*!$&+/%C3%A9?k=l&m?/#n",
    'https://[2001:db8::1]/a.png',
  ])('stores %s as all of its URLs', async (url) => {
    const image = await create(url);
    expect(image).toEqual({
      id: expect.any(String),
      url,
      full_screen_url: url,
      thumbnail_url: url,
      created_at: expect.any(String),
      updated_at: image?.created_at,
    });
  });

  it.each([
    ['https://images.example.com', 'https://images.example.com/'],
    ['HTTPS://Images.Example.com/A.jpg', 'https://images.example.com/A.jpg'],
    ['https://bücher.example/ä ö.jpg', 'https://xn--bcher-kva.example/%C3%A4%20%C3%B6.jpg'],
  ])('stores %s as the URI that browsers make of it', async (written, url) => {
    expect((await create(written))?.url).toBe(url);
  });

  it.each([
    ['https://bad.example/', 'a bad example'],
    ['lunch.jpg', 'not a valid URL'],
    ['https://images.example.com/100%', 'not a valid URL'],
    ['https://images.example.com/a|b', 'not a valid URL'],
    ['https://images.example.com/#a#b', 'not a valid URL'],
  ])('refuses %s: %s', async (url, reason) => {
    expect(await errorsOf(create(url))).toEqual([{ field: '0.image', code: 'invalid_url', params: { reason } }]);
  });
});
