import { accessSync, constants } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import {
  type Browser,
  type BrowserContext,
  type CDPSession,
  chromium,
  type LaunchOptions,
  type Page,
} from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome'];

/** Milliseconds for what a page does. Playwright's 30 s are too few on a busy machine, for example if Vite translates the modules of the page. */
const timeoutMs = 120_000;

/** The Chromium of this machine. */
export async function launchBrowser(options: LaunchOptions = {}): Promise<Browser> {
  const browser = await chromium.launch({ ...options, ...programOptions(), timeout: timeoutMs });
  browser.on('context', (context) => context.setDefaultTimeout(timeoutMs));
  return browser;
}

/**
 * A Chromium with settings that a person can make, such as blocked cookies.
 * @param preferences its file `Preferences`
 */
export async function launchWithPreferences(
  preferences: object,
): Promise<{ readonly context: BrowserContext; close(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'postern-browser-'));
  await mkdir(join(folder, 'Default'));
  await writeFile(join(folder, 'Default', 'Preferences'), JSON.stringify(preferences));
  const context = await chromium.launchPersistentContext(folder, { ...programOptions(), timeout: timeoutMs });
  context.setDefaultTimeout(timeoutMs);
  return {
    context,
    async close() {
      await context.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** A Chromium with cookies blocked. */
export const launchWithoutCookies = () =>
  launchWithPreferences({ profile: { default_content_setting_values: { cookies: 2 } } });

function programOptions(): Pick<LaunchOptions, 'executablePath' | 'args'> {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const candidates = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  const executablePath = candidates.find(isExecutable);
  if (executablePath === undefined) throw new Error(`there is none of ${names.join(', ')} in PATH`);
  // The sandbox of Chromium needs rights that a container may lack. The browser loads only pages of the tests.
  return { executablePath, args: ['--no-sandbox'] };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** An empty page on its own port, which is its own origin. */
export async function servePage(): Promise<{ port: number; close(): Promise<void> }> {
  const server: Server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>A page</title>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** A virtual authenticator of the browser's developer tools. */
export interface VirtualAuthenticator {
  credentials(): Promise<VirtualCredential[]>;
  /** Replaces all credentials with this one. */
  replace(credential: VirtualCredential): Promise<void>;
}

export type VirtualCredential = Awaited<ReturnType<typeof readCredentials>>[number];

const readCredentials = async (session: CDPSession, authenticatorId: string) =>
  (await session.send('WebAuthn.getCredentials', { authenticatorId })).credentials;

export async function addAuthenticator(
  page: Page,
  { verifiesUser }: { readonly verifiesUser: boolean },
): Promise<VirtualAuthenticator> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        automaticPresenceSimulation: true,
      },
      ...{ hasUserVerification: verifiesUser, isUserVerified: verifiesUser },
    },
  });
  return {
    credentials: () => readCredentials(session, authenticatorId),
    async replace(credential) {
      await session.send('WebAuthn.clearCredentials', { authenticatorId });
      await session.send('WebAuthn.addCredential', { authenticatorId, credential });
    },
  };
}
