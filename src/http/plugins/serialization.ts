import SerializerSelector from '@fastify/fast-json-stringify-compiler';
import type { App } from '../requests/route.js';

const compile = SerializerSelector()();
type Serializer = ReturnType<typeof compile>;

/** By schema. The servers of a process share them, because to compile one takes longer than most requests. */
const serializers = new WeakMap<object, Serializer>();

function serializerOf(schema: object, route: Omit<Parameters<typeof compile>[0], 'schema'>): Serializer {
  const serialize = serializers.get(schema) ?? compile({ ...route, schema });
  serializers.set(schema, serialize);
  return serialize;
}

/**
 * Compiles the serializer of a response when it is first used. Most processes never use most of them, and compiling all of
 * them takes a tenth of the start-up time.
 */
export function serializationPlugin(app: App): void {
  app.setSerializerCompiler<object>(({ schema, ...route }) => {
    let serialize: Serializer | undefined;
    return (value) => {
      serialize ??= serializerOf(schema, { ...route, httpStatus: route.httpStatus ?? '' });
      return serialize(value);
    };
  });
}
