import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fencesOf } from '../docs/markdown.js';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';

/** A backend behind a proxy. It answers with the headers of the request. */
export interface EchoBackend {
  readonly port: number;
  readonly requests: readonly {
    readonly url: string;
    readonly method: string;
    readonly headers: IncomingHttpHeaders;
  }[];
  close(): Promise<void>;
}

export async function startEchoBackend(): Promise<EchoBackend> {
  const requests: EchoBackend['requests'][number][] = [];
  const server = createServer((request, response) => {
    const { url = '', method = '', headers } = request;
    requests.push({ url, method, headers });
    request.resume();
    request.on('end', () => {
      response.writeHead(url.startsWith('/broken') ? 500 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(headers));
    });
  });
  const port = await listen(server);
  return {
    port,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export interface RunningProxy {
  readonly url: string;
  stop(): Promise<void>;
}

/** The addresses that the page shows, and those of a test. */
export interface Addresses {
  readonly posternPort: number;
  readonly backendPort: number;
}

interface Ports extends Addresses {
  readonly proxyPort: number;
}
/** What a test replaces in a configuration. */
type Changes = readonly (readonly [from: string, to: string])[];

/** How a proxy is started with its part of docs/proxies.md. */
export const proxies = {
  nginx: {
    block: 'upstream postern',
    changes: ({ proxyPort, posternPort, backendPort }: Ports): Changes => [
      ['listen 8000;', `listen 127.0.0.1:${proxyPort};`],
      ['127.0.0.1:8080', `127.0.0.1:${posternPort}`],
      ['127.0.0.1:3000', `127.0.0.1:${backendPort}`],
    ],
    wrap: (text: string, folder: string) => `daemon off;
pid ${folder}/nginx.pid;
error_log stderr error;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
${text}
}`,
    command: (file: string): [string, string[]] => ['nginx', ['-e', 'stderr', '-c', file]],
    whenUnavailable: 503,
  },
  Caddy: {
    block: ':8000 {',
    changes: ({ proxyPort, posternPort, backendPort }: Ports): Changes => [
      [':8000 {', `http://:${proxyPort} {\n\tbind 127.0.0.1`],
      ['127.0.0.1:8080', `127.0.0.1:${posternPort}`],
      ['127.0.0.1:3000', `127.0.0.1:${backendPort}`],
    ],
    wrap: (text: string) => `{\n\tadmin off\n\tauto_https off\n}\n${text}\n`,
    command: (file: string): [string, string[]] => ['caddy', ['run', '--adapter', 'caddyfile', '--config', file]],
    whenUnavailable: 502,
  },
  Envoy: {
    block: 'static_resources:',
    changes: ({ proxyPort, posternPort, backendPort }: Ports): Changes => [
      ['address: 0.0.0.0, port_value: 8000', `address: 127.0.0.1, port_value: ${proxyPort}`],
      ['port_value: 8080', `port_value: ${posternPort}`],
      ['port_value: 3000', `port_value: ${backendPort}`],
    ],
    wrap: (text: string) => text,
    command: (file: string): [string, string[]] => [
      'envoy',
      [...['--config-path', file, '--use-dynamic-base-id'], ...['--concurrency', '1', '--log-level', 'error']],
    ],
    whenUnavailable: 503,
  },
} as const;

/** Starts a proxy with the configuration of the page. */
export async function startProxy(name: keyof typeof proxies, addresses: Addresses): Promise<RunningProxy> {
  return run(name, proxies[name], { ...addresses, proxyPort: await freePort() }, '/public/ready');
}

/** The gateways that check access tokens, with the configurations of docs/access-tokens.md. */
const tokenGateways = {
  Envoy: proxies.Envoy,
  nginx: {
    ...proxies.nginx,
    block: 'js_import tokens',
    script: '// /etc/nginx/access-tokens.js',
    wrap: (text: string, folder: string) => {
      const inFolder = text.replace('/etc/nginx/', `${folder}/`).replace('/var/cache/nginx/', `${folder}/`);
      // Debian loads it from /etc/nginx/modules-enabled.
      return `load_module modules/ngx_http_js_module.so;\n${proxies.nginx.wrap(inFolder, folder)}`;
    },
  },
} as const;
export type TokenGateway = keyof typeof tokenGateways;

export async function startTokenGateway(name: TokenGateway, addresses: Addresses): Promise<RunningProxy> {
  const gateway = { ...tokenGateways[name], page: 'docs/access-tokens.md' };
  return run(name, gateway, { ...addresses, proxyPort: await freePort() }, '/public/ready');
}

/** The configurations for a path, and how a proxy removes the path. */
const pathProxies = {
  nginx: {
    ...proxies.nginx,
    block: 'location /auth/ {',
    changes: ({ posternPort }: Ports): Changes => [['127.0.0.1:8080', `127.0.0.1:${posternPort}`]],
    wrap: (text: string, folder: string, port: number) =>
      proxies.nginx.wrap(`server {\nlisten 127.0.0.1:${port};\n${text}\n}`, folder),
    removal: ['proxy_pass http://127.0.0.1:8080;', 'proxy_pass http://127.0.0.1:8080/;'],
  },
  Caddy: {
    ...proxies.Caddy,
    block: 'redir /auth /auth/',
    changes: ({ posternPort }: Ports): Changes => [['127.0.0.1:8080', `127.0.0.1:${posternPort}`]],
    wrap: (
      text: string,
      _: string,
      port: number, // Without a limit, Caddy would wait for open streams when it stops.
    ) =>
      proxies.Caddy.wrap(`http://127.0.0.1:${port} {\n${text}\n}`).replace('admin off', 'admin off\n\tgrace_period 1s'),
    removal: ['handle /auth/* {', 'handle_path /auth/* {'],
  },
} as const;

/** Starts a proxy in front of a Postern whose PUBLIC_URL has the path /auth. */
export async function startPathProxy(
  name: keyof typeof pathProxies,
  removesPath: boolean,
  ports: { readonly posternPort: number; readonly proxyPort: number },
): Promise<RunningProxy> {
  const { removal, changes, ...proxy } = pathProxies[name];
  const all = (given: Ports): Changes => [...(removesPath ? [removal] : []), ...changes(given)];
  return run(name, { ...proxy, changes: all }, { ...ports, backendPort: 0 }, '/auth/livez');
}

interface Definition {
  /** The page with the configuration. */
  readonly page?: string;
  readonly block: string;
  /** The first line of a file that the configuration names. It is written beside the configuration. */
  readonly script?: string;
  readonly changes: (ports: Ports) => Changes;
  readonly wrap: (text: string, folder: string, port: number) => string;
  readonly command: (file: string) => [string, string[]];
}

async function run(name: string, proxy: Definition, ports: Ports, readyPath: string): Promise<RunningProxy> {
  const { proxyPort: port } = ports;
  const { page = 'docs/proxies.md' } = proxy;
  const blockAt = (start: string): string => {
    const [fence, ...others] = fencesOf(page).filter(({ text: found }) => found.startsWith(start));
    if (fence === undefined || others.length > 0) throw new Error(`${page} has no single block for ${name}`);
    return fence.text;
  };
  const folder = await mkdtemp(join(tmpdir(), 'postern-proxy-'));
  // The workers of nginx have another account, and keep answers there.
  await chmod(folder, 0o755);
  if (proxy.script !== undefined) await writeFile(join(folder, 'access-tokens.js'), blockAt(proxy.script));
  const text = proxy.changes(ports).reduce((whole, [from, to]) => {
    if (!whole.includes(from)) throw new Error(`the configuration of ${name} has no ${from}`);
    return whole.replaceAll(from, to);
  }, blockAt(proxy.block));
  // Envoy reads the format from the name.
  const file = join(folder, 'config.yaml');
  await writeFile(file, proxy.wrap(text, folder, port));
  const [command, args] = proxy.command(file);
  const env = { PATH: `${process.env.PATH}:/usr/sbin`, HOME: folder };
  const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.on('data', (data) => {
    output += data;
  });
  const failed = once(child, 'error').then(([error]) => {
    output += error;
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually(`${name} to answer`, async () => {
    if (hasEnded(child)) throw new Error(`${name} ended: ${output}`);
    const answer = await Promise.race([fetch(url + readyPath), failed]).catch(() => undefined);
    return answer?.ok ? true : undefined;
  });
  return {
    url,
    async stop() {
      const ended = once(child, 'close');
      if (!hasEnded(child)) {
        child.kill('SIGTERM');
        await ended;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
