import { readdir, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Image } from '../../../../src/contract/image.js';
import type { Notification } from '../../../../src/contract/notification.js';
import { startHttp } from '../../../delivery/local-server.js';
import { type ApiOptions, type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { blue, colourOf, createImageFolder, formOf, plain, red, twoHalves } from '../../../support/image-fixtures.js';
import { testSql } from '../../../support/sql.js';
import { createUser, signIn } from '../../../support/users.js';

let folder: Awaited<ReturnType<typeof createImageFolder>>;
let postern: TestApp;
beforeAll(async () => {
  folder = await createImageFolder();
  postern = await startTestApp({ IMAGE_DIR: folder.path, ALLOW_PRIVATE_NETWORK_TARGETS: 'true' });
});
afterAll(async () => {
  await postern.close();
  await folder.remove();
});

const upload = (body: unknown, options: ApiOptions = {}) =>
  postern.api<Image & ProblemAnswer>('POST', '/admin/v1/images', { bearer: postern.adminKey, body, ...options });
const uploadFile = (file: Buffer, options: ApiOptions = {}) => upload(formOf(['file', file]), options);

async function newSession() {
  const user = await createUser(postern);
  const { session } = await signIn(postern, user);
  return { user, bearer: session.token };
}

async function load(url: string, init: RequestInit = {}) {
  const response = await fetch(url, init);
  return { status: response.status, headers: response.headers, content: Buffer.from(await response.arrayBuffer()) };
}

async function renditions(image: Image) {
  const files = await Promise.all([image.url, image.full_screen_url, image.thumbnail_url].map((url) => load(url)));
  expect(files.map(({ status }) => status)).toEqual([200, 200, 200]);
  const [card, full, thumbnail] = files.map(({ content }) => content);
  if (card === undefined || full === undefined || thumbnail === undefined) throw new Error('not three files');
  return { card, full, thumbnail };
}

async function sizesOf(image: Image) {
  const files = await renditions(image);
  const heads = await Promise.all([files.card, files.full, files.thumbnail].map((file) => sharp(file).metadata()));
  expect(heads.map(({ format }) => format)).toEqual(['jpeg', 'jpeg', 'jpeg']);
  return heads.map(({ width, height }) => `${width}x${height}`);
}

const countImages = async () => (await postern.database.query(testSql('select id from images'))).length;

describe('an upload', () => {
  it('as a form is converted to a card, a full screen and a thumbnail with the documented sizes', async () => {
    const { status, body } = await uploadFile(await plain(3000, 2000).jpeg().toBuffer());
    expect(status).toBe(201);
    const base = `${postern.url}/images/${body.id}`;
    expect(body).toMatchObject({
      url: `${base}/card.jpg`,
      full_screen_url: `${base}/full.jpg`,
      thumbnail_url: `${base}/thumbnail.jpg`,
      updated_at: body.created_at,
    });
    expect(await sizesOf(body)).toEqual(['640x360', '2048x1365', '160x160']);
  });

  it('is not enlarged for the full screen', async () => {
    const { body } = await uploadFile(await plain(50, 20).png().toBuffer());
    expect(await sizesOf(body)).toEqual(['640x360', '50x20', '160x160']);
  });

  it.each(['jpeg', 'png', 'webp', 'gif', 'avif'] as const)('can be %s with any file name', async (format) => {
    const file = await plain(300, 200)[format]().toBuffer();
    const { status, body } = await upload(formOf(['file', file, 'x.txt']));
    expect(status).toBe(201);
    const { r, g, b } = await colourOf((await renditions(body)).full);
    expect([r > 240, g < 15, b < 15]).toEqual([true, true, true]);
  });

  it('shows the first frame of an animation', async () => {
    const frames = await Promise.all([red, blue].map((colour) => plain(40, 40, colour).png().toBuffer()));
    const file = await sharp(frames, { join: { animated: true } })
      .gif()
      .toBuffer();
    expect((await sharp(file).metadata()).pages).toBe(2);
    const { body } = await uploadFile(file);
    expect(await sizesOf(body)).toEqual(['640x360', '40x40', '160x160']);
    expect((await colourOf((await renditions(body)).full)).r).toBeGreaterThan(240);
  });

  it('is turned upright, and loses its metadata: EXIF, GPS, ICC and XMP', async () => {
    // The image lies on its side: upright, its left edge is at the top.
    const file = await (await twoHalves(400, 200))
      .flatten()
      .jpeg()
      .withExif({ IFD0: { Copyright: 'canary', Orientation: '6' }, IFD3: { GPSLatitude: '51/1 30/1 0/1' } })
      .withIccProfile('p3')
      .withMetadata({ orientation: 6 })
      .toBuffer();
    expect(await sharp(file).metadata()).toMatchObject({ orientation: 6, exif: expect.any(Buffer) });
    expect(file.includes('canary')).toBe(true);

    const { body } = await uploadFile(file);
    const files = await renditions(body);
    for (const rendition of Object.values(files)) {
      const head = await sharp(rendition).metadata();
      expect([head.exif, head.icc, head.xmp, head.iptc, head.orientation]).toEqual(Array(5).fill(undefined));
      expect(rendition.includes('canary')).toBe(false);
    }
    expect(await sizesOf(body)).toEqual(['640x360', '200x400', '160x160']);
    const top = await colourOf(files.full, { left: 0, top: 0, width: 200, height: 150 });
    const bottom = await colourOf(files.full, { left: 0, top: 250, width: 200, height: 150 });
    expect([top.r > 200, top.b < 60, bottom.r < 60, bottom.b > 200]).toEqual([true, true, true, true]);
  });

  it('gets a white background if it is transparent', async () => {
    const { body } = await uploadFile(
      await plain(100, 100, { ...red, alpha: 0 })
        .png()
        .toBuffer(),
    );
    expect(await colourOf((await renditions(body)).full)).toEqual({ r: 255, g: 255, b: 255 });
  });

  it('can be sent in base64, with or without padding and a data: prefix', async () => {
    const file = await plain(31, 17).png().toBuffer();
    const encoded = file.toString('base64');
    for (const spelled of [encoded, encoded.replace(/=+$/, ''), `data:image/png;base64,${encoded}`]) {
      const { status, body } = await upload({ encoded: spelled });
      expect(status).toBe(201);
      expect(await sizesOf(body)).toEqual(['640x360', '31x17', '160x160']);
    }
  });

  it('can be fetched from a URL, once', async () => {
    const file = await plain(64, 48).webp().toBuffer();
    const host = await startHttp((_request, response) => response.end(file));
    const { status, body } = await upload({ url: `${host.url}/a.webp?b=c` });
    expect(status).toBe(201);
    expect(await sizesOf(body)).toEqual(['640x360', '64x48', '160x160']);
    expect(host.received).toMatchObject([{ method: 'GET', url: '/a.webp?b=c' }]);
  });

  it('of a user is shown by a notification with its id, and in the list', async () => {
    const { user, bearer } = await newSession();
    const file = await plain(10, 10).png().toBuffer();
    const own = await postern.api<Image>('POST', '/v1/images', { bearer, body: formOf(['file', file]) });
    expect(own.status).toBe(201);
    const { body: notification } = await postern.api<Notification>('POST', '/admin/v1/notifications', {
      bearer: postern.adminKey,
      body: { user_id: user.id, notification_type: 'pool', description: 'x', image_id: own.body.id },
    });
    expect(notification.image).toEqual(own.body);
    const { body: list } = await postern.api<Notification[]>('GET', '/v1/notifications', { bearer });
    expect(list[0]?.image).toEqual(own.body);
  });

  it('has URLs that start with PUBLIC_URL if it is set, including its path', async () => {
    const behindProxy = await postern.another({ PUBLIC_URL: 'https://app.example.com/postern/' });
    const { body } = await behindProxy.api<Image>('POST', '/admin/v1/images', {
      bearer: behindProxy.adminKey,
      body: formOf(['file', await plain(10, 10).png().toBuffer()]),
    });
    expect(body.url).toBe(`https://app.example.com/postern/images/${body.id}/card.jpg`);
    await behindProxy.close();
  });

  it('with an Idempotency-Key is created once: forms are compared by file, not by boundary', async () => {
    const { bearer } = await newSession();
    const [one, other] = await Promise.all([red, blue].map((colour) => plain(20, 20, colour).png().toBuffer()));
    const send = (file: Buffer | undefined) =>
      postern.api<Image & ProblemAnswer>('POST', '/v1/images', {
        bearer,
        body: formOf(['file', file ?? Buffer.alloc(0)]),
        headers: { 'Idempotency-Key': 'lunch' },
      });
    const [first, repeat, different] = [await send(one), await send(one), await send(other)];
    expect([first.status, repeat.status, different.status]).toEqual([201, 201, 422]);
    expect(repeat.text).toBe(first.text);
    expect(repeat.headers['idempotent-replayed']).toBe('true');
    expect(different.body.errors[0]?.code).toBe('idempotency_key_reused');
    // The same key of another user is a different key.
    const stranger = await newSession();
    const elsewhere = await postern.api<Image>('POST', '/v1/images', {
      bearer: stranger.bearer,
      body: formOf(['file', one ?? Buffer.alloc(0)]),
      headers: { 'Idempotency-Key': 'lunch' },
    });
    expect([elsewhere.status, elsewhere.body.id === first.body.id]).toEqual([201, false]);
  });
});

describe('a file of an image', () => {
  it('can be kept by its client for a day, and is only a JPEG', async () => {
    const { body } = await uploadFile(await plain(20, 20).png().toBuffer());
    const answer = await load(body.thumbnail_url);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/jpeg',
      'content-length': String(answer.content.length),
      'cache-control': 'private, max-age=86400',
      'content-disposition': expect.stringMatching(/^inline; filename="[0-9a-f-]{36}-[a-z]+\.jpg"$/),
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
      etag: expect.stringMatching(/^"[\w-]+"$/),
    });
    const path = new URL(body.thumbnail_url).pathname;
    expect((await postern.api('GET', path)).status).toBe(200);
    const head = await load(body.thumbnail_url, { method: 'HEAD' });
    expect([head.status, head.content.length]).toEqual([200, 0]);
    expect(head.headers.get('content-length')).toBe(String(answer.content.length));
    const etag = answer.headers.get('etag') ?? '';
    for (const tags of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      expect((await postern.api('GET', path, { headers: { 'if-none-match': tags } })).status).toBe(304);
    }
    expect((await postern.api('GET', path, { headers: { 'if-none-match': '"x"' } })).status).toBe(200);
  });

  it('gets 404 for any other path', async () => {
    const { body } = await uploadFile(await plain(20, 20).png().toBuffer());
    const secret = `${dirname(folder.path)}/secret.jpg`;
    await writeFile(secret, 'secret');
    const paths = [
      `/images/${crypto.randomUUID()}/card.jpg`,
      ...['card', 'card.png', 'secret.jpg', '..%2f..%2f..%2f..%2fsecret.jpg', 'CARD.JPG', 'card.jpg%00'].map(
        (file) => `/images/${body.id}/${file}`,
      ),
      ...['x', '..', '..%2f..', '%2e%2e', 'unsettled'].map((id) => `/images/${id}/card.jpg`),
    ];
    for (const path of paths) {
      const answer = await load(postern.url + path);
      expect([path, answer.status, answer.headers.get('cache-control')]).toEqual([path, 404, 'no-store']);
    }
    expect((await load(`${postern.url}/images/${body.id.toUpperCase()}/card.jpg`)).status).toBe(200);
  });
});

describe('the quota of a user', () => {
  /** Stores this number of images that were uploaded this number of minutes ago. */
  const insertImages = (userId: string, count: number, minutes: number) =>
    postern.database.query(
      testSql(
        `insert into images (id, user_id, check_after, created_at, updated_at)
           select gen_random_uuid(), $1, db_now() + interval '1 day', at, at
           from generate_series(1, $2::int), (select db_now() - $3 * interval '1 minute' as at) t`,
        [userId, count, minutes],
      ),
    );

  it('allows 100 uploads an hour, also in parallel, and says when the next one is allowed', async () => {
    const { user, bearer } = await newSession();
    const file = await plain(8, 8).png().toBuffer();
    // It waits for a lock for as long as a busy machine needs.
    const patientOne = await postern.another({}, { queryTimeout: 60_000 });
    const send = () => patientOne.api<ProblemAnswer>('POST', '/v1/images', { bearer, body: formOf(['file', file]) });
    await insertImages(user.id, 98, 50);
    // The first upload starts the decoder. Files that wait for it would be refused on a busy machine.
    expect((await send()).status).toBe(201);
    const { database } = postern;
    const sent = await database.transaction(async (tx) => {
      await tx.query(testSql('select from inboxes where user_id = $1 for update', [user.id]));
      const all = Promise.all([send(), send(), send(), send()]);
      // A user has at least two connections.
      await eventually('uploads that wait for each other', async () => {
        // The server ends a transaction without statements.
        await tx.query(testSql('select 1'));
        const waiting = await database.query(
          testSql("select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"),
        );
        return waiting.length >= 2 || undefined;
      });
      return { all };
    });
    const answers = await sent.all;
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 429, 429, 429]);
    const { headers, body } = await send();
    expect(body.errors[0]?.code).toBe('too_many_requests');
    expect(Number(headers['retry-after'])).toBeGreaterThan(500);
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(600);
    await patientOne.close();
  });

  it('allows 1000 images, and refuses more before anything is decoded', async () => {
    const { user, bearer } = await newSession();
    await insertImages(user.id, 1000, 600);
    const { status, body } = await postern.api<ProblemAnswer>('POST', '/v1/images', {
      bearer,
      body: formOf(['file', Buffer.from('no image')]),
    });
    expect([status, body.errors[0]?.code]).toEqual([422, 'too_many_images']);
  });

  it('allows 4 parallel uploads of a user, and does not affect others', async () => {
    const [{ bearer }, other] = [await newSession(), await newSession()];
    const file = formOf(['file', await plain(10, 10).png().toBuffer()]);
    const held: ServerResponse[] = [];
    const host = await startHttp((_request, response) => void held.push(response));
    const statuses: number[] = [];
    const answers = Array.from({ length: 12 }, async () => {
      const { status } = await postern.api('POST', '/v1/images', { bearer, body: { url: host.url } });
      statuses.push(status);
    });
    await eventually('the answers to all but four', async () => (statuses.length === 8 ? true : undefined));
    expect(new Set(statuses)).toEqual(new Set([429]));
    await eventually('four fetches', async () => (held.length === 4 ? true : undefined));
    expect((await postern.api('POST', '/v1/images', { bearer: other.bearer, body: file })).status).toBe(201);
    for (const answer of held) answer.end();
    await Promise.all(answers);
    // A finished upload frees its slot.
    expect((await postern.api('POST', '/v1/images', { bearer, body: file })).status).toBe(201);
  });

  it('reads the bodies of one user at a limited rate, in base64 and as forms, and those of others meanwhile', async () => {
    const [one, two, three] = [await newSession(), await newSession(), await newSession()];
    // Four of them are far above the burst of a user, and arrive in much less than the time limit of a request.
    const file = Buffer.alloc(3 * 1024 * 1024, 'x');
    const bodies = [{ encoded: file.toString('base64') }, formOf(['file', file])];
    const finished: string[] = [];
    const send = async (name: string, { bearer }: { bearer: string }, body: unknown) => {
      const { status } = await postern.api('POST', '/v1/images', { bearer, body });
      finished.push(`${name} ${status}`);
    };
    await Promise.all([
      ...[...bodies, ...bodies].map((body) => send('many', one, body)),
      send('other', two, bodies[0]),
      send('other', three, bodies[1]),
    ]);
    // All but the burst of the four waits.
    expect(finished.slice(0, 2).sort()).toEqual(['other 422', 'other 422']);
    expect(finished.slice(-2)).toEqual(['many 422', 'many 422']);
  });

  describe('a body of unknown length that is refused before its end, and a client that then disconnects, harm nothing', () => {
    const boundary = 'multipart/form-data; boundary=x';
    const part = (name: string, content: string) =>
      `--x\r\nContent-Disposition: form-data; name="${name}"; filename="a"\r\n\r\n${content}\r\n`;
    const mebibyte = 1024 * 1024;
    it.each([
      ['JSON with a file that is too long', 'application/json', '{"encoded":"', 'A'.repeat(mebibyte), 413],
      ['JSON with too much around the file', 'application/json', '{"x":"', 'A'.repeat(mebibyte), 413],
      ['a form with too many parts', boundary, part('a', 'b').repeat(40), part('a', 'b'.repeat(mebibyte)), 400],
      ['a form with a broken part', boundary, '--x\r\n:\r\n\r\n', 'b'.repeat(mebibyte), undefined],
      ['a form with a file that does not end', boundary, '--x\r\n', part('file', 'b'.repeat(mebibyte / 2)), undefined],
    ])('%s', async (_name, type, start, piece, status) => {
      const { bearer } = await newSession();
      const socket = connect(Number(new URL(postern.url).port), '127.0.0.1');
      onTestFinished(() => void socket.destroy());
      let answer = '';
      socket.on('data', (bytes) => {
        answer += bytes;
      });
      socket.on('error', () => undefined);
      const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
      socket.write(
        `POST /v1/images HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${bearer}\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
      socket.write(chunk(start));
      // No last chunk: the body never ends.
      for (let n = 0; n < 9; n += 1) socket.write(chunk(piece));
      if (status !== undefined) {
        await eventually('the answer or the end', async () => answer || socket.destroyed || undefined);
        if (answer !== '') expect(answer).toContain(`HTTP/1.1 ${status} `);
      } else {
        await eventually(
          'the body to be read',
          async () => socket.bytesWritten - socket.writableLength > 2 * mebibyte || undefined,
        );
      }
      socket.resetAndDestroy();
      const next = await eventually('the place of the upload', async () => {
        const { status: other } = await postern.api('POST', '/v1/images', { bearer, body: { encoded: 'AAAA' } });
        return other === 429 ? undefined : other;
      });
      expect(next).toBe(422);
    });
  });

  it('counts a URL that is still being fetched, also if the client has disconnected', async () => {
    const { bearer } = await newSession();
    const answers: ServerResponse[] = [];
    const host = await startHttp((_request, response) => void answers.push(response));
    const send = (signal?: AbortSignal) =>
      fetch(`${postern.url}/v1/images`, {
        method: 'POST',
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
        body: JSON.stringify({ url: host.url }),
        ...(signal && { signal }),
      });
    const client = new AbortController();
    const requests = Array.from({ length: 4 }, () => send(client.signal).catch(() => undefined));
    await eventually('four fetches', async () => (answers.length === 4 ? true : undefined));
    client.abort();
    await Promise.all(requests);
    expect((await send()).status).toBe(429);
    for (const answer of answers) answer.end();
    await eventually('a free place', async () => {
      const answer = await postern.api('POST', '/v1/images', { bearer, body: { encoded: 'AAAA' } });
      return answer.status === 429 ? undefined : answer;
    });
  });
});

it('the uploads of a user are deleted with the user', async () => {
  const { user, bearer } = await newSession();
  const form = formOf(['file', await plain(10, 10).png().toBuffer()]);
  const { body } = await postern.api<Image>('POST', '/v1/images', { bearer, body: form });
  expect((await load(body.url)).status).toBe(200);
  await postern.api('DELETE', `/admin/v1/users/${user.id}`, { bearer: postern.adminKey });
  const removed = await eventually('the image to be removed', async () => {
    const answer = await load(body.url);
    return answer.status === 200 ? undefined : answer;
  });
  expect(removed.status).toBe(404);
});

describe('a disk that refuses writes', () => {
  it('causes 503, and leaves neither a row nor a file', async () => {
    const blocked = await createImageFolder();
    await writeFile(blocked.path, 'not a folder');
    const unlucky = await postern.another({ IMAGE_DIR: blocked.path });
    const before = await countImages();
    const { status, headers, body } = await unlucky.api<ProblemAnswer>('POST', '/admin/v1/images', {
      bearer: unlucky.adminKey,
      body: formOf(['file', await plain(10, 10).png().toBuffer()]),
    });
    expect([status, body.errors[0]?.code, headers['retry-after']]).toEqual([503, 'storage_unavailable', '1']);
    expect(await countImages()).toBe(before);
    expect(await readdir(dirname(blocked.path))).toEqual(['images']);
    await unlucky.close();
    await blocked.remove();
  });
});
