import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** A certificate of 127.0.0.1, made for these tests only, with its key. */
export const selfSigned = readFileSync(new URL('../delivery/self-signed.pem', import.meta.url));

/** A mail as it arrived. */
export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** By lower-case name, unfolded, encoded words decoded. */
  readonly headers: ReadonlyMap<string, string>;
  /** The plain text. */
  readonly text: string;
  readonly html: string;
  /** Its files, such as a logo, by content id. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** The user of the SMTP login. */
  readonly user: string | undefined;
  readonly encrypted: boolean;
}

/** An answer to a command. Without a text, the server quotes the client, as some do. */
export interface SmtpRefusal {
  readonly status: number;
  readonly at: 'RCPT' | 'DATA';
  readonly text?: string;
}

export interface MailServer {
  readonly port: number;
  readonly received: readonly ReceivedMail[];
  /** The recipients of all mail, accepted or not. */
  readonly requestedRecipients: readonly string[];
  /** The responses to the next mails, one each. Later mails are accepted. */
  refuse(...answers: readonly SmtpRefusal[]): void;
  close(): Promise<void>;
}

export interface MailServerOptions {
  /** TLS from the start, offered, or not at all. */
  readonly tls?: 'from_start' | 'starttls' | 'none';
  /** The required user. */
  readonly login?: { readonly user: string; readonly password: string };
}

/** An SMTP server on loopback that stores its mail. */
export async function startMailServer({ tls = 'none', login }: MailServerOptions = {}): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  const requestedRecipients: string[] = [];
  const refusals: SmtpRefusal[] = [];
  const refusal = (at: 'RCPT' | 'DATA') => {
    if (refusals[0]?.at !== at) return null;
    const { status = 0, text = `refused: ${at}` } = refusals.shift() ?? {};
    return Object.assign(new Error(text), { responseCode: status });
  };
  const options: SMTPServerOptions = {
    ...{ secure: tls === 'from_start', key: selfSigned, cert: selfSigned, authOptional: login === undefined },
    ...{ hidePIPELINING: true, closeTimeout: 100 },
    disabledCommands: [...(tls === 'none' ? ['STARTTLS'] : []), ...(login === undefined ? ['AUTH'] : [])],
    allowInsecureAuth: true,
    onAuth({ username, password }, _session, done) {
      if (username === login?.user && password === login?.password) done(null, { user: username });
      else done(Object.assign(new Error(`no ${username} with ${password}`), { responseCode: 535 }));
    },
    onRcptTo({ address }, _session, done) {
      requestedRecipients.push(address);
      done(refusal('RCPT'));
    },
    onData(stream, { envelope, user, secure }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const refused = refusal('DATA');
        if (refused !== null) return done(refused);
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        const to = envelope.rcptTo.map(({ address }) => address);
        const mail = readMail(Buffer.concat(chunks).toString());
        received.push({ from, to, ...mail, user: user as string | undefined, encrypted: secure });
        done();
      });
    },
  };
  const server = new SMTPServer(options);
  // A client that closes the connection is not an error of the server.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.server.address() as AddressInfo;
  return {
    ...{ port, received, requestedRecipients },
    refuse: (...answers) => void refusals.push(...answers),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function readMail(raw: string): Pick<ReceivedMail, 'headers' | 'text' | 'html' | 'files'> {
  const { headers } = readPart(raw);
  const leaves = leavesOf(raw);
  const textOf = (type: string) => {
    const found = leaves.filter((leaf) => leaf.headers.get('content-type')?.startsWith(type));
    if (found.length !== 1) throw new Error(`a mail has ${found.length} parts of the type ${type}`);
    return found[0]?.content.toString().replaceAll('\r\n', '\n').trim() ?? '';
  };
  const files = leaves.flatMap(({ headers, content }) => {
    const id = headers.get('content-id');
    return id === undefined ? [] : [[id.slice(1, -1), content] as const];
  });
  return { headers, text: textOf('text/plain'), html: textOf('text/html'), files: new Map(files) };
}

/** The parts of a multipart mail that are no multipart themselves (RFC 2046, 5.1). */
function leavesOf(raw: string): { headers: Map<string, string>; content: Buffer }[] {
  const { headers, body } = readPart(raw);
  const [, boundary] = /^multipart\/[^;]+;.*boundary="?([^";]+)"?/.exec(headers.get('content-type') ?? '') ?? [];
  if (boundary === undefined) {
    return [{ headers, content: decodeBody(body, headers.get('content-transfer-encoding') ?? '') }];
  }
  const [, ...parts] = `\r\n${body}`.split(`\r\n--${boundary}`);
  return parts.slice(0, -1).flatMap((part) => leavesOf(part.slice(2)));
}

function readPart(raw: string): { headers: Map<string, string>; body: string } {
  const end = raw.indexOf('\r\n\r\n');
  const lines = raw
    .slice(0, end)
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), decodeWords(line.slice(colon + 1).trim())] as const;
    }),
  );
  if (headers.size !== lines.length) throw new Error(`a header is repeated: ${lines.join(' | ')}`);
  return { headers, body: raw.slice(end + 4) };
}

/** Decodes the encoded words of a header (RFC 2047). */
function decodeWords(value: string): string {
  return value
    .replaceAll(/\?= =\?/g, '?==?')
    .replaceAll(/=\?utf-8\?([QB])\?([^?]*)\?=/gi, (_whole, how: string, word: string) =>
      how.toUpperCase() === 'B' ? Buffer.from(word, 'base64').toString() : decodeQuoted(word.replaceAll('_', ' ')),
    );
}

function decodeBody(text: string, encoding: string): Buffer {
  if (encoding === 'base64') return Buffer.from(text, 'base64');
  return Buffer.from(encoding === 'quoted-printable' ? decodeQuoted(text.replaceAll('=\r\n', '')) : text);
}

/** Decodes quoted-printable text (RFC 2045, 6.7). */
function decodeQuoted(text: string): string {
  return text.replaceAll(/(?:=[0-9A-F]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('=', ''), 'hex').toString());
}

/** A server that does not speak SMTP. */
export async function startRudeServer(
  connected: (socket: Socket) => void,
): Promise<{ port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    connected(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
