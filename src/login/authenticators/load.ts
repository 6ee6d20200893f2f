import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { NamedByPlugin, Plugin, PluginChallenge, PluginContext } from './plugin.js';
import type { PluginDescription } from './plugin-messages.js';
import { type SupervisedPlugin, supervisePlugin } from './plugin-supervision.js';

export interface LoadOptions {
  /** URLs of files, or names of packages. */
  readonly modules: readonly string[];
  readonly contextOf: (module: string) => PluginContext;
  /** Called for unhandled errors of a module, and when a thread has ended by itself. */
  readonly onError: (module: string, message: string, failure?: Error) => void;
}

export interface LoadedPlugins {
  readonly plugins: readonly Plugin[];
  /** The errors of the modules, as texts for the operator. */
  readonly errors: readonly string[];
  /** Ends the threads. */
  close(): Promise<void>;
}

const namePattern = /^[a-z][a-z0-9_:-]{0,63}$/;
const builtIn: readonly string[] = ['password', 'sms', 'email', 'passkey', 'totp'];
const builtInPrefixes = ['custom:', 'oidc:'];

/**
 * Starts modules, each in its own thread, and checks their exports. A module exports one authenticator, which is called a
 * plug-in here. The result has the errors of all modules.
 */
export async function loadPlugins({ modules, contextOf, onError }: LoadOptions): Promise<LoadedPlugins> {
  const plugins: Plugin[] = [];
  const errors: string[] = [];
  const threads: SupervisedPlugin[] = [];
  for (const module of modules) {
    try {
      const thread = await supervisePlugin({
        url: resolveModule(module),
        context: contextOf(module),
        onUnhandled: (failure) => onError(module, 'a plug-in did not handle an error', failure),
        onLost: (reason) => onError(module, `the thread of a plug-in was lost: ${reason}`),
      });
      threads.push(thread);
      const moduleErrors = [...errorsOf(thread.description), ...nameConflicts(thread.description, plugins)];
      errors.push(...moduleErrors.map((error) => `${module}: ${error}`));
      if (moduleErrors.length === 0 && thread.description !== undefined)
        plugins.push(pluginOf(thread, thread.description));
    } catch (error) {
      errors.push(`${module}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  const close = async () => {
    await Promise.all(threads.map((thread) => thread.close()));
  };
  return { plugins, errors, close };
}

/**
 * Returns the plug-in of a module. Its functions run in the thread of the module.
 * @param description a description for which `errorsOf` found no errors
 */
function pluginOf({ call }: SupervisedPlugin, description: PluginDescription): Plugin {
  const name = String(description.name);
  const begin = (...args: unknown[]) => call('begin', args) as Promise<PluginChallenge>;
  const verify = async (...args: unknown[]) => (await call('verify', args)) === true;
  const identify = (...args: unknown[]) => call('identify', args) as Promise<NamedByPlugin | undefined>;
  if (description.steps === 1) return { name, steps: 1, verify };
  return description.namesUser === true
    ? { name, steps: 2, namesUser: true, begin, identify }
    : { name, steps: 2, begin, verify };
}

/** Looks for a package in the working directory first, then among Postern's own packages. */
function resolveModule(module: string): string {
  if (module.startsWith('file:')) return module;
  try {
    return pathToFileURL(createRequire(resolve('package.json')).resolve(module)).href;
  } catch {
    return module;
  }
}

function errorsOf(description: PluginDescription | undefined): string[] {
  if (description === undefined) {
    return ['the default export is neither an authenticator nor a function that returns one'];
  }
  const { name, steps, namesUser, functions } = description;
  const errors: string[] = [];
  if (typeof name !== 'string' || !namePattern.test(name)) errors.push(`name must match ${namePattern.source}`);
  if (steps !== 1 && steps !== 2) errors.push('steps must be 1 or 2');
  if (namesUser !== undefined && typeof namesUser !== 'boolean') errors.push('namesUser must be true or false');
  if (namesUser === true && steps !== 2) errors.push('namesUser needs two steps');
  const decidingFunction = namesUser === true ? 'identify' : 'verify';
  const neededFunctions = steps === 2 ? ['begin', decidingFunction] : [decidingFunction];
  const missing = neededFunctions.filter((member) => !functions.includes(member));
  errors.push(...missing.map((member) => `${member} must be a function`));
  return errors;
}

function nameConflicts(description: PluginDescription | undefined, others: readonly Plugin[]): string[] {
  const name = description?.name;
  if (typeof name !== 'string') return [];
  if (builtIn.includes(name) || builtInPrefixes.some((prefix) => name.startsWith(prefix))) {
    return [`the name ${name}, or its prefix, is reserved for built-in authenticators`];
  }
  return others.some((other) => other.name === name) ? [`another module has the name ${name} too`] : [];
}
