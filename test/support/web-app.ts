import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fencesOf, root } from '../docs/markdown.js';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';

/** The code block of docs/web-apps.md that contains this text. */
export function codeOfPage(name: string): string {
  const codes = fencesOf('docs/web-apps.md').flatMap(({ language, text }) => (language === 'js' ? [text] : []));
  const [code, ...others] = codes.filter((text) => text.includes(name));
  if (code === undefined || others.length > 0) throw new Error(`docs/web-apps.md needs exactly one block with ${name}`);
  return code;
}

/** docs/examples/web-app.js, in its own process. */
export interface WebApp {
  readonly port: number;
  readonly url: string;
  stop(): Promise<void>;
}

export async function startWebApp(postern: string): Promise<WebApp> {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const child = spawn(process.execPath, [join(root, 'docs/examples/web-app.js')], {
    env: { POSTERN: postern, ORIGIN: url, PORT: String(port) },
    stdio: 'inherit',
  });
  const ended = once(child, 'close');
  await eventually('the backend to listen', async () => {
    if (child.exitCode !== null) throw new Error(`the backend ended with ${child.exitCode}`);
    return fetch(url).catch(() => undefined);
  });
  return {
    port,
    url,
    async stop() {
      child.kill();
      await ended;
    },
  };
}
