import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A mail as a gateway gets it. */
export interface GatewayMail {
  readonly id: string;
  readonly type: string;
  readonly notification_id?: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** A gateway of MAIL_PROVIDER=webhook on loopback. It accepts each mail, and names it `gateway-<id>`. */
export async function startFakeGateway() {
  const received: GatewayMail[] = [];
  const gateway: {
    beforeAnswer: ((mail: GatewayMail) => Promise<void>) | undefined;
    /** Called when the answer was handed to the network. */
    afterAnswer: ((mail: GatewayMail) => void) | undefined;
    /** The body of the answers. */
    answer: (mail: GatewayMail) => string;
  } = { beforeAnswer: undefined, afterAnswer: undefined, answer: ({ id }) => JSON.stringify({ id: `gateway-${id}` }) };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const mail: GatewayMail = JSON.parse(Buffer.concat(chunks).toString());
    received.push(mail);
    await gateway.beforeAnswer?.(mail);
    response
      .writeHead(202, { 'content-type': 'application/json' })
      .end(gateway.answer(mail), () => gateway.afterAnswer?.(mail));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(gateway, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mails`,
    received: received as readonly GatewayMail[],
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
