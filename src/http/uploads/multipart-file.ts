import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { maxImageBytes } from '../../contract/image.js';
import { Problem, throwIfErrors } from '../../lib/problem.js';

/** The maximum number of bytes in addition to the file: boundaries, headers of parts, and unknown fields. */
const maxBytesAround = 64 * 1024;
const limits = {
  parts: 20,
  fieldNameSize: 100,
  fieldSize: 1024,
  headerPairs: 20,
  /**
   * The plugin truncates a longer file here, and the code below refuses it. If the plugin refused the file itself, it
   * would not read the rest of the body.
   */
  fileSize: maxImageBytes,
};

/**
 * Reads the part `file` of a multipart body. Other parts are ignored.
 * @param body the body in pieces
 * @returns the body for validation; `file` is missing if there is no such part
 * @throws Problem `payload_too_large`, `malformed_request`, `validation_failed`
 */
export async function readMultipartFile(
  request: FastifyRequest,
  reply: FastifyReply,
  body: AsyncIterable<Buffer>,
): Promise<{ file?: Buffer }> {
  if (Number(request.headers['content-length'] ?? 0) > maxImageBytes + maxBytesAround) {
    // The client may still send the rest of the body.
    reply.header('Connection', 'close');
    throw new Problem('payload_too_large');
  }
  const files: Buffer[] = [];
  let isCut = false;
  try {
    // Reads to the end even if the file is refused already: a client that still sends does not read the response.
    for await (const part of readingFrom(body, request).parts({ limits })) {
      if (part.type !== 'file') continue;
      if (part.fieldname !== 'file' || files.length > 0) part.file.resume();
      if (part.fieldname !== 'file') continue;
      files.push(files.length === 0 ? await part.toBuffer() : Buffer.alloc(0));
      isCut ||= part.file.truncated;
    }
  } catch (error) {
    throw new Problem('malformed_request', { cause: error });
  }
  if (isCut) throw new Problem('payload_too_large');
  if (files.length > 1) throwIfErrors([{ field: 'file', code: 'too_many_items', params: { max: 1 } }]);
  const [file] = files;
  return file === undefined ? {} : { file };
}

/** The request, but the plugin reads its body from here. The plugin itself always reads `raw`. */
function readingFrom(body: AsyncIterable<Buffer>, request: FastifyRequest): FastifyRequest {
  const raw = Object.assign(Readable.from(body, { objectMode: false }), { headers: request.headers });
  return Object.create(request, { raw: { value: raw } }) as FastifyRequest;
}
