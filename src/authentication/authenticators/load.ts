import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin, PluginContext, PluginFactory } from './plugin.js';

export interface LoadOptions {
  /** URLs of files, or names of packages. */
  readonly modules: readonly string[];
  readonly contextOf: (module: string) => PluginContext;
}

export interface LoadedPlugins {
  readonly plugins: readonly Plugin[];
  /** What is wrong with the modules, in words for the operator. */
  readonly faults: readonly string[];
}

const namePattern = /^[a-z][a-z0-9_:-]{0,63}$/;
const builtIn: readonly string[] = ['password', 'sms', 'email', 'passkey', 'totp'];
const builtInPrefixes = ['custom:', 'oidc:'];

/** Imports modules from outside of the project and checks what they export. Every fault of every module is named. */
export async function loadPlugins({ modules, contextOf }: LoadOptions): Promise<LoadedPlugins> {
  const plugins: Plugin[] = [];
  const faults: string[] = [];
  for (const module of modules) {
    try {
      const made: unknown = await make(module, contextOf(module));
      const found = [...faultsOf(made), ...clashes(made, plugins)];
      faults.push(...found.map((fault) => `${module}: ${fault}`));
      if (found.length === 0) plugins.push(made as Plugin);
    } catch (error) {
      faults.push(`${module}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { plugins, faults };
}

async function make(module: string, context: PluginContext): Promise<unknown> {
  const { default: exported } = (await import(resolveModule(module))) as { default?: unknown };
  return typeof exported === 'function' ? (exported as PluginFactory)(context) : exported;
}

/** A package is first looked for where the service runs, then among those of Postern itself. */
function resolveModule(module: string): string {
  if (module.startsWith('file:')) return module;
  try {
    return pathToFileURL(createRequire(resolve('package.json')).resolve(module)).href;
  } catch {
    return module;
  }
}

function faultsOf(made: unknown): string[] {
  if (typeof made !== 'object' || made === null) {
    return ['the default export is no authenticator, and no function that returns one'];
  }
  const { name, steps, namesUser } = made as Readonly<Record<string, unknown>>;
  const faults: string[] = [];
  if (typeof name !== 'string' || !namePattern.test(name)) faults.push(`name must match ${namePattern.source}`);
  if (steps !== 1 && steps !== 2) faults.push('steps must be 1 or 2');
  if (namesUser !== undefined && typeof namesUser !== 'boolean') faults.push('namesUser must be true or false');
  if (namesUser === true && steps !== 2) faults.push('namesUser needs two steps');
  const decides = namesUser === true ? 'identify' : 'verify';
  const needed = steps === 2 ? ['begin', decides] : [decides];
  const missing = needed.filter((member) => typeof (made as Record<string, unknown>)[member] !== 'function');
  faults.push(...missing.map((member) => `${member} must be a function`));
  return faults;
}

function clashes(made: unknown, others: readonly Plugin[]): string[] {
  const { name } = (made ?? {}) as { name?: unknown };
  if (typeof name !== 'string') return [];
  if (builtIn.includes(name) || builtInPrefixes.some((prefix) => name.startsWith(prefix))) {
    return [`the name ${name} is one of Postern's own`];
  }
  return others.some((other) => other.name === name) ? [`the name ${name} is another plug-in's too`] : [];
}
