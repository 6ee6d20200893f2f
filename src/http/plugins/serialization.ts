import SerializerSelector from '@fastify/fast-json-stringify-compiler';
import type { App } from '../requests/route.js';

/**
 * Compiles the serializer of a response when it is first used. Most processes never use most of them, and compiling all of
 * them takes a tenth of the start-up time.
 */
export function serializationPlugin(app: App): void {
  const compile = SerializerSelector()();
  app.setSerializerCompiler((route) => {
    let serialize: ReturnType<typeof compile> | undefined;
    return (value) => {
      serialize ??= compile({ ...route, httpStatus: route.httpStatus ?? '' });
      return serialize(value);
    };
  });
}
