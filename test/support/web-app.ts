import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fencesOf, root } from '../docs/markdown.js';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';

/** The code for a page in docs/web-apps.md that defines this function. */
export function codeOfPage(name: 'openInbox' | 'renameDevice'): string {
  if (name === 'openInbox') {
    return readFileSync(join(root, 'docs/examples/inbox.js'), 'utf8').replace('export function', 'function');
  }
  const [code] = fencesOf('docs/web-apps.md').filter(({ language }) => language === 'js');
  if (!code?.text.includes(name)) throw new Error(`docs/web-apps.md needs a block with ${name}`);
  return code.text;
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
