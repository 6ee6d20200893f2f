import { type Static, Type } from 'typebox';
import { Id } from '../../contract/common.js';
import { ImageFile, imageFiles, type Rendition } from '../../contract/image.js';
import { parseId } from '../../lib/ids.js';
import { Problem } from '../../lib/problem.js';
import type { Images } from '../../notifications/images/images.js';
import type { App } from '../requests/route.js';

const Params = Type.Object({ id: Id, file: ImageFile });
const oneDay = 86_400;
const string = (description: string) => ({ type: 'string', description });

/** A route for the files of uploaded images. The id, with 122 random bits, is the only credential. */
export function imageFileRoutes(app: App, { images }: { images: Images }): void {
  app.route<{ Params: Static<typeof Params> }>({
    method: 'GET',
    url: '/images/:id/:file',
    // Long enough to send a whole file to a slow client.
    handlerTimeout: 120_000,
    schema: {
      operationId: 'getImageFile',
      summary: 'Get a rendition of an uploaded image',
      description:
        'The target of the URLs of an image. It never changes. A browser may keep it for a day, shared caches may not keep it.',
      params: Params,
      response: {
        200: {
          description: 'The file.',
          headers: {
            ETag: string('Identifies the file.'),
            'Content-Disposition': string('`inline`, with a file name that Postern chooses.'),
            'Cross-Origin-Resource-Policy': string('cross-origin: pages of any origin may show it.'),
          },
          content: { 'image/jpeg': { schema: { contentMediaType: 'image/jpeg' } } },
        },
        302: {
          ...Type.Null(),
          description: 'The file is in a store from which clients read it themselves (`IMAGE_S3_READS=redirect`).',
          headers: { Location: string('The URL of the file. It is valid for an hour.') },
        },
        304: {
          ...Type.Null(),
          description: 'The client has the file already.',
          headers: { ETag: string('Identifies the file.') },
        },
      },
    },
    config: { access: 'public', problems: ['not_found'] },
    async handler(request, reply) {
      const { id: idText, file } = request.params;
      const id = parseId(idText);
      const rendition = renditionOf(file);
      const location = id === undefined || rendition === undefined ? undefined : await images.locate(id, rendition);
      if (location !== undefined) {
        // Clients must not keep the redirect for longer than its target is valid.
        const maxAge = Math.floor(location.validFor / 2);
        reply.headers({ 'Cache-Control': `private, max-age=${maxAge}`, Location: location.url });
        return reply.code(302).send(null);
      }
      const image = id === undefined || rendition === undefined ? undefined : await images.open(id, rendition);
      if (image === undefined) throw new Problem('not_found');
      const etag = `"${id}-${rendition}"`;
      reply.headers({ ETag: etag, 'Cache-Control': `private, max-age=${oneDay}` });
      if (namesTag(request.headers['if-none-match'], etag)) {
        image.content.destroy();
        return reply.code(304).send(null);
      }
      return reply
        .type('image/jpeg')
        .headers({
          'Content-Length': String(image.size),
          'Content-Disposition': `inline; filename="${id}-${rendition}.jpg"`,
          'Cross-Origin-Resource-Policy': 'cross-origin',
        })
        .send(image.content);
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
