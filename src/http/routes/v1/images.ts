import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { Image, ImageInput, ImageUpload, maxImageBytes } from '../../../contract/image.js';
import { Problem, throwIfErrors } from '../../../lib/problem.js';
import type { ImageSource, Images } from '../../../notifications/images/images.js';
import type { Idempotent } from '../../requests/idempotent.js';
import type { Access, App } from '../../requests/route.js';
import { readMultipartFile } from '../../uploads/multipart-file.js';
import { createPacedBodies } from '../../uploads/paced-body.js';
import { createUploadGate, type UploadGate } from '../../uploads/upload-gate.js';

/** The size of the largest file in base64 and the JSON around it, in bytes. */
const maxJsonBytes = 7 * 1024 * 1024;

export interface ImageServices {
  readonly images: Images;
  readonly idempotent: Idempotent;
}

/** Routes that upload images: for users, and for the app's own servers. */
export function imageRoutes(app: App, services: ImageServices): void {
  // A separate Fastify scope: only these routes take multipart bodies.
  app.register(async (scope: App) => {
    const { default: multipart } = await import('@fastify/multipart');
    await scope.register(multipart, { throwFileSizeLimit: false });
    const gate = createUploadGate();
    const paced = createPacedBodies();
    const bodies = new WeakMap<FastifyRequest, Readable>();
    scope.addHook('onRequest', gate.enter);
    scope.addHook('preParsing', async (request, _reply, payload) => {
      if (request.authorized.session === undefined) return payload;
      const body = paced(request, payload);
      bodies.set(request, body);
      return body;
    });
    scope.addHook('preValidation', async (request, reply) => {
      if (request.isMultipart()) request.body = await readMultipartFile(request, reply, bodies.get(request));
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
        quota: ' A user can upload 100 images an hour and keep 1000, and a guest 10.',
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
    /** The prefix of the names of the body schemas: schemas of the administration allow no unknown members. */
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
      description: `A JPEG, PNG, WebP, GIF (only the first frame) or AVIF of at most 5 MiB and 25 megapixels: as the part \`file\` of a multipart body, in base64, or as a URL from which Postern fetches it once. Postern converts it to three JPEGs: upright, on white, without metadata. It removes an image that no notification has used for a day.${route.quota}`,
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
      recentProof: 'not-needed',
      idempotent: true,
      // Image processing has its own limit. Otherwise the handler limit could answer 503 for an image that is stored.
      hasNoHandlerTimer: true,
      problems: [
        'invalid_image',
        'image_not_stored',
        ...(route.access === 'session' ? (['too_many_images'] as const) : []),
        'too_many_requests',
      ],
    },
    async handler(request, reply) {
      const source = sourceOf(request.body);
      const isRepeatable = request.headers['idempotency-key'] !== undefined;
      const userId = request.authorized.session?.user_id;
      const add = () =>
        idempotent(
          request,
          reply,
          (commit) =>
            images.add(source, userId, (insert) => commit(async (tx) => ({ status: 201, body: await insert(tx) }))),
          userId,
          // Large files take some time.
          'url' in source ? source : isRepeatable ? createHash('sha256').update(source.file).digest('hex') : '',
        );
      await gate.during(request, add);
      return reply;
    },
  });
}

/** @throws Problem `validation_failed`, `payload_too_large` */
function sourceOf(body: ImageInput & Partial<ImageUpload> = {}): ImageSource {
  const { url, encoded, file } = body;
  // A JSON body may have an unknown member of this name.
  if (Buffer.isBuffer(file)) return { file };
  const fields = { fields: 'url, encoded, file' };
  if (url !== undefined && encoded !== undefined) throwIfErrors([{ code: 'conflicting_fields', params: fields }]);
  if (encoded !== undefined) return { file: decode(encoded) };
  if (url !== undefined) return { url };
  throw new Problem('validation_failed', { errors: [{ code: 'one_required', params: fields }] });
}

/** Decodes base64 strictly: refuses characters that Node's decoder skips or corrects. Padding is optional. */
function decode(encoded: string): Buffer {
  if (encoded === '') throwIfErrors([{ field: 'encoded', code: 'required' }]);
  const base64 = encoded.startsWith('data:') ? encoded.slice(encoded.indexOf(';base64,') + 8) : encoded;
  const file = Buffer.from(base64, 'base64');
  const isBase64 = withoutPadding(file.toString('base64')) === withoutPadding(base64) && base64.length % 4 !== 1;
  if (!isBase64) throwIfErrors([{ field: 'encoded', code: 'invalid_format' }]);
  if (file.length > maxImageBytes) throw new Problem('payload_too_large');
  return file;
}

const withoutPadding = (base64: string) => (base64.endsWith('=') ? base64.slice(0, base64.indexOf('=')) : base64);
