import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Image, ImageInput, ImageUpload, maxImageBytes } from '../../../contract/image.js';
import { Problem, throwIfErrors } from '../../../lib/problem.js';
import type { ImageSource, Images } from '../../../notifications/images/images.js';
import { parseJsonBody } from '../../plugins/json-body.js';
import type { Idempotent } from '../../requests/idempotent.js';
import type { Access, App } from '../../requests/route.js';
import { decodeImage, readEncodedImage } from '../../uploads/encoded-image.js';
import { readMultipartFile } from '../../uploads/multipart-file.js';
import { bodyOf, createPacedBodies } from '../../uploads/paced-body.js';
import { createUploadGate, type UploadGate } from '../../uploads/upload-gate.js';

/** `maxBytes`: of the largest file in base64 and the JSON around it. */
const sizes = { maxBytes: 7 * 1024 * 1024, maxFileBytes: maxImageBytes };

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
    const piecesOf = (request: FastifyRequest) =>
      request.authorized.session === undefined ? bodyOf(request) : paced(request);
    const encodedFiles: UploadParts['encodedFiles'] = new WeakMap();
    scope.addHook('onRequest', gate.enter);
    scope.removeContentTypeParser('application/json');
    scope.addContentTypeParser('application/json', async (request: FastifyRequest) => {
      const bodyBytes = Number(request.headers['content-length'] ?? 0);
      if (bodyBytes > sizes.maxBytes) throw new Problem('payload_too_large');
      const { text, file } = await readEncodedImage(piecesOf(request), { ...sizes, bodyBytes });
      if (file !== undefined) encodedFiles.set(request, file);
      return parseJsonBody(request, text);
    });
    scope.addHook('preValidation', async (request, reply) => {
      if (request.isMultipart()) request.body = await readMultipartFile(request, reply, piecesOf(request));
    });
    uploadRoute(
      scope,
      { ...services, gate, encodedFiles },
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
      { ...services, gate, encodedFiles },
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

interface UploadParts {
  readonly gate: UploadGate;
  /** The files of JSON bodies, which have an empty string in their place. */
  readonly encodedFiles: WeakMap<FastifyRequest, () => Buffer>;
}

function uploadRoute(
  app: App,
  { images, idempotent, gate, encodedFiles }: ImageServices & UploadParts,
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
      const source = sourceOf(request.body, encodedFiles.get(request));
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
function sourceOf(body: ImageInput & Partial<ImageUpload> = {}, encodedFile?: () => Buffer): ImageSource {
  const { url, encoded, file } = body;
  // A JSON body may have an unknown member of this name.
  if (Buffer.isBuffer(file)) return { file };
  const fields = { fields: 'url, encoded, file' };
  if (url !== undefined && encoded !== undefined) throwIfErrors([{ code: 'conflicting_fields', params: fields }]);
  if (encoded !== undefined)
    return { file: encoded === '' && encodedFile ? encodedFile() : decodeImage(encoded, maxImageBytes) };
  if (url !== undefined) return { url };
  throw new Problem('validation_failed', { errors: [{ code: 'one_required', params: fields }] });
}
