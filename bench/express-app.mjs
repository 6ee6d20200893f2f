// An Express app with an empty route, a route that asks Postern for the session by itself, and a route behind the middleware of
// @postern/server: `node bench/express-app.mjs POSTERN`.

import { createPosternServer, expressSession, sessionOf } from '@postern/server';
import express from 'express';

const [url] = process.argv.slice(2);
const app = express();
app.post('/empty', (_request, response) => {
  response.json({ user_id: '' });
});
app.post('/by-hand', async (request, response) => {
  const { authorization } = request.headers;
  const answer = await fetch(`${url}/v1/sessions/verify`, { method: 'POST', headers: { authorization } });
  const { user_id } = await answer.json();
  response.json({ user_id });
});
app.post('/middleware', expressSession(createPosternServer({ url })), (request, response) => {
  response.json({ user_id: sessionOf(request).user_id });
});
const server = app.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port} `);
});
process.on('SIGTERM', () => process.exit(0));
