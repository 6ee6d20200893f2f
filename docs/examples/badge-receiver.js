// The service behind CUSTOM_AUTHENTICATORS={"badge":{"url":"https://…","secret":"whsec_…"}}: whether a badge is right.
//
//   PORT=8090 BADGE_SECRET=whsec_… node docs/examples/badge-receiver.js
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const key = Buffer.from((process.env.BADGE_SECRET ?? '').slice('whsec_'.length), 'base64');
const badges = new Map([['ada', '0047 1138']]);

createServer(async (request, response) => {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > 100_000) return response.writeHead(413, { connection: 'close' }).end(); // anybody can send a body
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature = '' } = request.headers;
  const expected = Buffer.from(
    `v1,${createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest('base64')}`,
  );
  const given = String(signature)
    .split(' ')
    .map((text) => Buffer.from(text));
  const isOurs = given.some((one) => one.length === expected.length && timingSafeEqual(one, expected));
  if (!isOurs || Math.abs(Date.now() / 1000 - Number(time)) > 300) return response.writeHead(401).end();
  const { user, secret } = JSON.parse(body.toString());
  return response.end(JSON.stringify({ approved: user !== null && badges.get(user.username) === secret }));
}).listen(Number(process.env.PORT), '127.0.0.1');
