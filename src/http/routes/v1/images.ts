import { createHash } from 'node:crypto';
import { ImageInput, ImageUpload, maxImageBytes } from '../../../contract/image.js';
import { Image } from '../../../contract/notification.js';
import { Problem, refuseFaults } from '../../../lib/problem.js';
import type { ImageSource, Images } from '../../../notifications/images/images.js';
import type { Idempotent } from '../../idempotent.js';
import { readMultipartFile } from '../../multipart-file.js';
import type { Access, App } from '../../route.js';
import { createUploadGate, type UploadGate } from '../../upload-gate.js';

/** A file of the largest size in base64, with what stands around it. */
const maxJsonBytes = 7 * 1024 * 1024;

export interface ImageServices {
  readonly images: Images;
  readonly idempotent: Idempotent;
}

/** Uploading images: by users, and by the app's own servers. */
export function imageRoutes(app: App, services: ImageServices): void {
  // In a scope of its own: only these routes take multipart bodies.
  app.register(async (scope: App) => {
    const { default: multipart } = await import('@fastify/multipart');
    await scope.register(multipart, { throwFileSizeLimit: false });
    const gate = createUploadGate();
    scope.addHook('onRequest', gate.enter);
    scope.addHook('preValidation', async (request, reply) => {
      if (request.isMultipart()) request.body = await readMultipartFile(request, reply);
    });
    uploadRoute(
      scope,
      { ...services, gate },
      {
        url: '/v1/images',
        access: 'session',
        operationId: 'uploadImage',
        schemas: '',
        tag: 'Images',
        quota: ' A user may upload 100 images an hour and keep 1000.',
      },
    );
    uploadRoute(
      scope,
      { ...services, gate },
      {
        url: '/admin/v1/images',
        access: { scope: 'notifications:write' },
        operationId: 'createImage',
        schemas: 'Admin',
        tag: 'Administration',
        quota: '',
      },
    );
  });
}

function uploadRoute(
  app: App,
  { images, idempotent, gate }: ImageServices & { readonly gate: UploadGate },
  route: {
    readonly url: string;
    readonly access: Access;
    readonly operationId: string;
    /** What the names of its bodies begin with: those of the administration allow no unknown members. */
    readonly schemas: '' | 'Admin';
    readonly tag: string;
    readonly quota: string;
  },
): void {
  app.route<{ Body: (ImageInput & Partial<ImageUpload>) | undefined }>({
    method: 'POST',
    url: route.url,
    bodyLimit: maxJsonBytes,
    schema: {
      operationId: route.operationId,
      summary: 'Upload an image',
      description: `A JPEG, PNG, WebP, GIF (its first frame) or AVIF of at most 5 MiB and 25 megapixels: as the part \`file\` of a multipart body, in base64, or by a URL from which it is fetched once. Made anew as three JPEGs, upright, on white, without metadata. Removed after a day in which no notification has shown it.${route.quota}`,
      tags: [route.tag],
      body: {
        content: {
          'multipart/form-data': { schema: { ...ImageUpload, title: `${route.schemas}ImageUpload` } },
          'application/json': { schema: { ...ImageInput, title: `${route.schemas}ImageInput` } },
        },
      },
      response: { 201: { ...Image, description: 'The image, for `image_id` of notifications.' } },
    },
    config: {
      access: route.access,
      idempotent: true,
      // The images have a limit of their own, so that what is answered is what has happened.
      isBounded: true,
      problems: [
        'invalid_image',
        'image_not_stored',
        ...(route.access === 'session' ? (['too_many_images'] as const) : []),
        'too_many_requests',
      ],
    },
    async handler(request, reply) {
      const source = sourceOf(request.body);
      const userId = request.authorized.session?.user_id;
      const add = () =>
        idempotent(
          request,
          reply,
          (commit) =>
            images.add(source, userId, (insert) => commit(async (tx) => ({ status: 201, body: await insert(tx) }))),
          userId,
          'url' in source ? source : createHash('sha256').update(source.file).digest('hex'),
        );
      await gate.during(request, add);
      return reply;
    },
  });
}

/** @throws Problem `validation_failed`, `payload_too_large` */
function sourceOf(body: ImageInput & Partial<ImageUpload> = {}): ImageSource {
  const { url, encoded, file } = body;
  // In JSON an unknown member may have that name.
  if (Buffer.isBuffer(file)) return { file };
  const fields = { fields: 'url, encoded, file' };
  if (url !== undefined && encoded !== undefined) refuseFaults([{ code: 'conflicting_fields', params: fields }]);
  if (encoded !== undefined) return { file: decode(encoded) };
  if (url !== undefined) return { url };
  throw new Problem('validation_failed', { errors: [{ code: 'one_required', params: fields }] });
}

/** Strictly: what Node's decoder skips or mends is no base64. Padding may be left out. */
function decode(encoded: string): Buffer {
  const base64 = encoded.startsWith('data:') ? encoded.slice(encoded.indexOf(';base64,') + 8) : encoded;
  const file = Buffer.from(base64, 'base64');
  const isBase64 = withoutPadding(file.toString('base64')) === withoutPadding(base64) && base64.length % 4 !== 1;
  if (!isBase64) refuseFaults([{ field: 'encoded', code: 'invalid_format' }]);
  if (file.length > maxImageBytes) throw new Problem('payload_too_large');
  return file;
}

const withoutPadding = (base64: string) => (base64.endsWith('=') ? base64.slice(0, base64.indexOf('=')) : base64);
