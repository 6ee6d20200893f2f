import { SerializerSelector } from '@fastify/fast-json-stringify-compiler';

type Factory = ReturnType<typeof SerializerSelector>;

/**
 * How answers become JSON: each status of a route has a function that is made of its schema. Problems have none: they are
 * made into text where they are sent, and their schemas, several of each route, are for the document of the API alone.
 */
export const buildSerializers: Factory = (schemas, options) => {
  const build = SerializerSelector()(schemas, options);
  return (answer) => (isProblem(answer) ? JSON.stringify : build(answer));
};

/** Of an answer that is described by content type, the framework names that too. */
function isProblem(answer: { readonly contentType?: string } | object): boolean {
  return 'contentType' in answer && answer.contentType === 'application/problem+json';
}
