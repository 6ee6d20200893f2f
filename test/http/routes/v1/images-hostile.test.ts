import { connect } from 'node:net';
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Image } from '../../../../src/contract/image.js';
import { startHttp } from '../../../delivery/local-server.js';
import { type ApiOptions, type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { createImageFolder, formOf, hugePng, noise, plain, pngChunk } from '../../../support/image-fixtures.js';
import { testSql } from '../../../support/sql.js';

const mebibyte = 1024 * 1024;

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

/** Checks that a request stores no image. @returns its status, error code and field */
async function refusalOf(act: () => ReturnType<typeof upload>): Promise<[number, string | undefined, string?]> {
  const count = async () => (await postern.database.query(testSql('select id from images'))).length;
  const before = await count();
  const { status, body } = await act();
  expect(await count()).toBe(before);
  const [error] = body.errors;
  return error?.field === undefined ? [status, error?.code] : [status, error.code, error.field];
}

const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>';
const html = '<html><script>alert(document.domain)</script></html>';
const pixel = (format: 'jpeg' | 'png' | 'gif' | 'webp' | 'avif' | 'tiff') => plain(60, 40)[format]().toBuffer();

/** A JPEG with this in a comment (ITU T.81, B.2.4.5). */
function withComment(jpeg: Buffer, text: string): Buffer {
  const comment = Buffer.from(`\xff\xfe\0\0${text}`, 'latin1');
  comment.writeUInt16BE(text.length + 2, 2);
  return Buffer.concat([jpeg.subarray(0, 2), comment, jpeg.subarray(2)]);
}

describe('a file that is not an accepted image gets 422 invalid_image', () => {
  const whole = () => noise(800, 600).jpeg().toBuffer();
  const files: readonly (readonly [string, () => Buffer | Promise<Buffer>])[] = [
    ['nothing', () => Buffer.alloc(0)],
    ['text', () => Buffer.from('just text')],
    ['SVG', () => Buffer.from(svg)],
    ['SVG in XML', () => Buffer.from(`<?xml version="1.0"?>${svg}`)],
    ['HTML', () => Buffer.from(html)],
    ['a PDF', () => Buffer.from('%PDF-1.7\n%%EOF')],
    ['TIFF', () => pixel('tiff')],
    ['only the header of a JPEG', () => Buffer.from('ffd8ffe000104a46494600', 'hex')],
    ['SVG after the magic bytes of a GIF', () => Buffer.from(`GIF89a${svg}`)],
    ['SVG after the magic bytes of a JPEG', () => Buffer.concat([Buffer.from('ffd8ff', 'hex'), Buffer.from(svg)])],
    [
      'a PNG after the magic bytes of a JPEG',
      async () => Buffer.concat([Buffer.from('ffd8ff', 'hex'), await pixel('png')]),
    ],
    ['a JPEG after other bytes', async () => Buffer.concat([Buffer.from('\n'), await pixel('jpeg')])],
    ['HEIC by its brand', () => Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1')],
    ['an AVIF brand without an image', () => Buffer.from('\0\0\0\x18ftypavif\0\0\0\0mif1avif', 'latin1')],
    ['half a JPEG', async () => (await whole()).subarray(0, 50_000)],
    ['half a PNG', async () => (await noise(300, 300).png().toBuffer()).subarray(0, 50_000)],
    ['half a WebP', async () => (await noise(300, 300).webp().toBuffer()).subarray(0, 9000)],
    ['half an AVIF', async () => (await noise(300, 300).avif({ effort: 0 }).toBuffer()).subarray(0, 5000)],
    ['a PNG with one changed bit', async () => flipped(await noise(300, 300).png().toBuffer())],
    ['25,005,000 pixels in 3 KB', () => hugePng(5001, 5000)],
    ['a PNG that claims 4 billion pixels', () => hugePng(65_535, 65_535)],
    ['a PNG with 2^31 - 1 columns', () => hugePng(2 ** 31 - 1, 1)],
    ['a JPEG that claims 65,500 x 65,500', async () => resizedHead(await pixel('jpeg'))],
  ];

  it.each(files)('%s', async (_, make) => {
    const file = await make();
    expect(await refusalOf(() => upload(formOf(['file', file, 'lunch.jpg'])))).toEqual([422, 'invalid_image']);
    if (file.length > 0) {
      expect(await refusalOf(() => upload({ encoded: file.toString('base64') }))).toEqual([422, 'invalid_image']);
    }
  });

  function flipped(file: Buffer): Buffer {
    file[file.length >> 1] = (file[file.length >> 1] ?? 0) ^ 1;
    return file;
  }

  /** The frame header contains height and width (ITU T.81, B.2.2). */
  function resizedHead(jpeg: Buffer): Buffer {
    const frame = jpeg.indexOf(Buffer.from('ffc0', 'hex'));
    expect(frame).toBeGreaterThan(0);
    jpeg.writeUInt16BE(65_500, frame + 5);
    jpeg.writeUInt16BE(65_500, frame + 7);
    return jpeg;
  }
});

describe('a file that is also something else gets 422 invalid_image', () => {
  it.each([
    ['a JPEG and HTML', async () => Buffer.concat([await pixel('jpeg'), Buffer.from(html)])],
    ['a JPEG with HTML in a comment', async () => withComment(await pixel('jpeg'), html)],
    ['a GIF and JavaScript', async () => Buffer.concat([await pixel('gif'), Buffer.from(`/*${html}*/`)])],
    ['a PNG and a PDF', async () => Buffer.concat([await pixel('png'), Buffer.from('%PDF-1.7')])],
    ['a PNG and a ZIP', async () => Buffer.concat([await pixel('png'), Buffer.from('PK\x03\x04a.jsPK\x05\x06')])],
  ])('%s', async (_, make) => {
    const file = await make();
    expect(await refusalOf(() => upload(formOf(['file', file, 'lunch.jpg'])))).toEqual([422, 'invalid_image']);
  });
});

describe('a file whose insides are larger than itself is refused or converted, and others are converted meanwhile', () => {
  const withChunk = async (type: string, content: Buffer) => {
    const png = await pixel('png');
    // After the header: 8 bytes, and a chunk of 25.
    return Buffer.concat([png.subarray(0, 33), pngChunk(type, content), png.subarray(33)]);
  };
  const packed = deflateSync(Buffer.alloc(200 * mebibyte), { level: 1 });
  const files: readonly (readonly [string, () => Promise<Buffer>])[] = [
    ['a text of 200 MiB in a PNG', () => withChunk('zTXt', Buffer.concat([Buffer.from('a\0\0'), packed]))],
    ['a profile of 200 MiB in a PNG', () => withChunk('iCCP', Buffer.concat([Buffer.from('a\0\0'), packed]))],
    [
      'pixels behind its last row',
      async () => {
        const png = hugePng(10, 10);
        const end = png.length - 12;
        return Buffer.concat([png.subarray(0, end), pngChunk('IDAT', packed), png.subarray(end)]);
      },
    ],
    [
      'a JPEG whose last scan comes a thousand times',
      async () => {
        const jpeg = await noise(1500, 1500).jpeg({ progressive: true, quality: 5 }).toBuffer();
        const scan = jpeg.subarray(jpeg.lastIndexOf(Buffer.from('ffda', 'hex')), -2);
        const times = Math.min(1000, Math.floor((5 * mebibyte - jpeg.length) / scan.length));
        return Buffer.concat([jpeg.subarray(0, -2), ...Array<Buffer>(times).fill(scan), jpeg.subarray(-2)]);
      },
    ],
    [
      'a GIF of one pixel on 65,535 x 381',
      async () => {
        const gif = await pixel('gif');
        gif.writeUInt16LE(65_535, 6);
        gif.writeUInt16LE(381, 8);
        return gif;
      },
    ],
  ];
  it.each(files)('%s', async (_, make) => {
    const file = await make();
    expect(file.length).toBeLessThan(5 * mebibyte);
    const [hostile, good] = await Promise.all([
      upload(formOf(['file', file])),
      upload(formOf(['file', await pixel('png')])),
    ]);
    expect([201, 422]).toContain(hostile.status);
    expect(good.status).toBe(201);
    if (hostile.status === 422) expect(hostile.body.errors[0]?.code).toBe('invalid_image');
    else
      expect((await (await fetch(hostile.body.full_screen_url)).arrayBuffer()).byteLength).toBeLessThan(2 * mebibyte);
  });
});

it('bytes after an image are not stored', async () => {
  const { status, body } = await upload(
    formOf(['file', Buffer.concat([await pixel('jpeg'), Buffer.from('a secret')])]),
  );
  expect(status).toBe(201);
  for (const url of [body.url, body.full_screen_url, body.thumbnail_url]) {
    const answer = await fetch(url);
    expect(answer.headers.get('content-type')).toBe('image/jpeg');
    const content = Buffer.from(await answer.arrayBuffer());
    expect((await sharp(content).metadata()).format).toBe('jpeg');
    expect(content.includes('secret')).toBe(false);
    expect(content.subarray(-2).toString('hex')).toBe('ffd9');
  }
});

describe('the size of a file', () => {
  const padded = async (size: number) => Buffer.concat([await pixel('jpeg')], size);

  it('can be 5 MiB, and 25 megapixels', async () => {
    expect((await upload(formOf(['file', await padded(5 * mebibyte)]))).status).toBe(201);
    expect((await upload({ encoded: (await padded(5 * mebibyte)).toString('base64') })).status).toBe(201);
    expect((await upload(formOf(['file', hugePng(5000, 5000)]))).status).toBe(201);
    expect((await upload(formOf(['file', hugePng(1, 60_000)]))).status).toBe(201);
  });

  it('gets 413 with one byte more', async () => {
    const file = await padded(5 * mebibyte + 1);
    expect(await refusalOf(() => upload(formOf(['file', file])))).toEqual([413, 'payload_too_large']);
    expect(await refusalOf(() => upload({ encoded: file.toString('base64') }))).toEqual([413, 'payload_too_large']);
    const host = await startHttp((_request, response) => response.end(file));
    expect(await refusalOf(() => upload({ url: host.url }))).toEqual([422, 'too_many_bytes', 'url']);
  });

  it('is refused before the body is read, if Content-Length is too large', async () => {
    expect(await refusalOf(() => upload(formOf(['file', Buffer.alloc(6 * mebibyte)])))).toEqual([
      413,
      'payload_too_large',
    ]);
    expect(await refusalOf(() => upload({ encoded: 'A'.repeat(8 * mebibyte) }))).toEqual([413, 'payload_too_large']);
  });
});

describe('a form', () => {
  it.each([
    ['without a file', () => new FormData(), [422, 'required', 'file']],
    ['with a field with this name', () => withField(new FormData(), 'file', 'x'), [422, 'required', 'file']],
    ['with a file with another name', async () => formOf(['avatar', await pixel('png')]), [422, 'required', 'file']],
    [
      'with two files',
      async () => formOf(['file', await pixel('png')], ['file', await pixel('png')]),
      [422, 'too_many_items', 'file'],
    ],
    [
      'with too many parts',
      async () => formOf(...Array.from({ length: 30 }, () => ['a', Buffer.from('x')] as const)),
      [400, 'malformed_request'],
    ],
  ] as const)('%s is refused', async (_, make, expected) => {
    const form = await make();
    expect(await refusalOf(() => upload(form))).toEqual(expected);
  });

  it('can have other parts, which are ignored', async () => {
    const form = withField(
      formOf(['avatar', Buffer.alloc(6000)], ['file', await pixel('png')]),
      'url',
      'x'.repeat(2000),
    );
    expect((await upload(form)).status).toBe(201);
  });

  function withField(form: FormData, name: string, value: string): FormData {
    form.append(name, value);
    return form;
  }

  it.each([
    ['no boundary', 'multipart/form-data', '--x--'],
    [
      'no end',
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc',
    ],
    ['no part', 'multipart/form-data; boundary=x', 'abc'],
    [
      'a special name',
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data; name="__proto__"; filename="a"\r\n\r\nabc\r\n--x--\r\n',
    ],
  ])('with %s gets 400', async (_, type, body) => {
    expect(await refusalOf(() => upload(body, { headers: { 'content-type': type } }))).toEqual([
      400,
      'malformed_request',
    ]);
  });

  it('that does not end uses one of 16 slots: a 17th upload gets 503 until a sender disconnects', async () => {
    const request = `POST /admin/v1/images HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${postern.adminKey}\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 90000\r\n\r\n--x\r\n`;
    const part = 'Content-Disposition: form-data; name="file"; filename="a"\r\n\r\n';
    const senders = Array.from({ length: 20 }, () => connect(Number(new URL(postern.url).port), '127.0.0.1'));
    const disconnectAll = () => senders.forEach((sender) => void sender.destroy());
    onTestFinished(disconnectAll);
    let refused = 0;
    for (const sender of senders) {
      sender.once('data', () => {
        refused += 1;
      });
      sender.write(request + part);
    }
    await eventually('four uploads to be refused', async () => (refused === 4 ? true : undefined));
    const file = await pixel('png');
    const { headers, body } = await upload(formOf(['file', file]));
    expect([body.status, body.errors[0]?.code, headers['retry-after']]).toEqual([503, 'overloaded', '1']);
    disconnectAll();
    const { status } = await eventually('a free place', async () => {
      const answer = await upload(formOf(['file', file]));
      return answer.status === 503 ? undefined : answer;
    });
    expect(status).toBe(201);
  });
});

describe('a JSON body', () => {
  const noBase64 = [
    'not base64!',
    'AAAA\nAAAA',
    'AAAA=AAAA',
    'A',
    'AA-_',
    'AB==',
    'data:image/png,AAAA',
    'data:;base64,%%%%',
  ];
  const rows: readonly (readonly [object, readonly [number, string, string?]])[] = [
    [{}, [422, 'one_required']],
    [{ file: 'x' }, [422, 'unknown_member', 'file']],
    [{ url: 'https://images.example.com/a.jpg', encoded: 'AAAA' }, [422, 'conflicting_fields']],
    [{ encoded: 7 }, [422, 'invalid_type', 'encoded']],
    [{ encoded: '' }, [422, 'required', 'encoded']],
    ...noBase64.map((encoded) => [{ encoded }, [422, 'invalid_format', 'encoded']] as const),
  ];
  it.each(rows)('%j is refused', async (body, expected) => {
    expect(await refusalOf(() => upload(body))).toEqual(expected);
  });
});

describe('a URL', () => {
  it.each(['ftp://images.example.com/a.jpg', 'https://ann:secret@images.example.com/', 'javascript:alert(1)', 'a.jpg'])(
    '%s is refused',
    async (url) => {
      expect(await refusalOf(() => upload({ url }))).toEqual([422, 'invalid_url', 'url']);
    },
  );

  it('is refused if the host answers anything but 200 with an image, and no redirect is followed', async () => {
    const target = await startHttp((_request, response) => response.end('secret'));
    const host = await startHttp((request, response) => {
      if (request.url === '/moved') response.writeHead(302, { Location: target.url }).end();
      else if (request.url === '/missing') response.writeHead(404).end();
      else if (request.url === '/page') response.end(html);
      else response.destroy();
    });
    for (const path of ['/moved', '/missing', '/gone']) {
      expect(await refusalOf(() => upload({ url: host.url + path }))).toEqual([422, 'unreachable_url', 'url']);
    }
    expect(await refusalOf(() => upload({ url: `${host.url}/page` }))).toEqual([422, 'invalid_image']);
    expect(target.received).toEqual([]);
  });

  it('is cut off at 5 MiB if the host sends without end', async () => {
    const host = await startHttp((_request, response) => {
      const chunk = Buffer.alloc(mebibyte);
      const more = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more);
      more();
    });
    expect(await refusalOf(() => upload({ url: host.url }))).toEqual([422, 'too_many_bytes', 'url']);
  });

  it('that is not public is refused if private targets are not allowed, and no request is sent', async () => {
    const strict = await postern.another({ ALLOW_PRIVATE_NETWORK_TARGETS: 'false' });
    const inner = await startHttp((_request, response) => response.end());
    const urls = [
      inner.url,
      `https://127.0.0.1:${inner.port}/`,
      `https://localhost:${inner.port}/`,
      'https://169.254.169.254/latest/',
      'https://[::1]/',
    ];
    for (const url of urls) {
      const { status, body } = await strict.api<ProblemAnswer>('POST', '/admin/v1/images', {
        bearer: strict.adminKey,
        body: { url },
      });
      expect([status, body.errors[0]?.field]).toEqual([422, 'url']);
    }
    expect(inner.received).toEqual([]);
    await strict.close();
  });
});

it('the service logs no internal error for these requests', () => {
  expect(postern.logged.filter((line) => /"level":"(?:error|fatal)"/.test(line))).toEqual([]);
});
