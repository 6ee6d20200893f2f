import type { FastifyReply } from 'fastify';

/** A JSON array that is serialised in parts, so that each part can be serialised before the next one exists. */
export interface JsonParts {
  add(part: readonly unknown[]): void;
  all(): Buffer;
}

/** Creates the body of an answer with the status 201. */
export function jsonInParts(reply: FastifyReply): JsonParts {
  // This asks for the serializer of status 201, because the handler limit may already have answered with another status.
  const serialize = reply.getSerializationFunction('201') as ((part: readonly unknown[]) => string) | undefined;
  if (serialize === undefined) throw new Error('the answer has no schema');
  const parts = [Buffer.from('[')];
  return {
    add(part) {
      parts.push(Buffer.from(`${parts.length === 1 ? '' : ','}${serialize(part).slice(1, -1)}`));
    },
    all: () => Buffer.concat([...parts, Buffer.from(']')]),
  };
}
