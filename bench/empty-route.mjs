// A Fastify server with one empty route.
import Fastify from 'fastify';

const app = Fastify();
app.post('/', async () => ({ ok: true }));
console.log(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })} `);
process.on('SIGTERM', () => process.exit(0));
