import { type Static, Type } from 'typebox';
import { Id } from '../../contract/common.js';
import { ImageFile, imageFiles, type Rendition } from '../../contract/image.js';
import { parseId } from '../../lib/ids.js';
import { Problem } from '../../lib/problem.js';
import type { Images } from '../../notifications/images/images.js';
import type { App } from '../route.js';

const Params = Type.Object({ id: Id, file: ImageFile });
const oneYear = 31_536_000;
const string = (description: string) => ({ type: 'string', description });

/** The files of uploaded images, for whoever has the id: 122 random bits that only those learn who may see the image. */
export function imageFileRoutes(app: App, { images }: { images: Images }): void {
  app.route<{ Params: Static<typeof Params> }>({
    method: 'GET',
    url: '/images/:id/:file',
    // A whole file to a slow client; what else the limit is for happens before the first byte.
    handlerTimeout: 120_000,
    schema: {
      operationId: 'getImageFile',
      summary: 'A rendition of an uploaded image',
      description: 'What the URLs of an image lead to. It never changes, so it may be cached for good.',
      tags: ['Images'],
      params: Params,
      response: {
        200: {
          description: 'The file.',
          headers: {
            ETag: string('Names the file.'),
            'Content-Disposition': string('inline'),
            'Cross-Origin-Resource-Policy': string('cross-origin: pages of any origin may show it.'),
          },
          content: { 'image/jpeg': { schema: { contentMediaType: 'image/jpeg' } } },
        },
        304: {
          ...Type.Null(),
          description: 'The client has it already.',
          headers: { ETag: string('Names the file.') },
        },
      },
    },
    config: { access: 'public', problems: ['not_found'] },
    async handler(request, reply) {
      const { id: given, file } = request.params;
      const id = parseId(given);
      const rendition = renditionOf(file);
      const found = id === undefined || rendition === undefined ? undefined : await images.open(id, rendition);
      if (found === undefined) throw new Problem('not_found');
      const etag = `"${id}-${rendition}"`;
      reply.headers({ ETag: etag, 'Cache-Control': `public, max-age=${oneYear}, immutable` });
      if (namesTag(request.headers['if-none-match'], etag)) {
        found.content.destroy();
        return reply.code(304).send(null);
      }
      return reply
        .type('image/jpeg')
        .headers({
          'Content-Length': String(found.size),
          'Content-Disposition': 'inline',
          'Cross-Origin-Resource-Policy': 'cross-origin',
        })
        .send(found.content);
    },
  });
}

function renditionOf(file: string): Rendition | undefined {
  const renditions = Object.keys(imageFiles) as Rendition[];
  return renditions.find((rendition) => imageFiles[rendition] === file);
}

/** RFC 9110, 13.1.2, by weak comparison. */
function namesTag(header: string | undefined, etag: string): boolean {
  const tags = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(etag);
}
