import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { nearestSimilar, nearestSpelling } from '../lib/nearest.js';
import { contradictions, risks } from './contradictions.js';
import { type EffectiveSetting, effectiveSettings } from './effective.js';
import type { Setting } from './parsers.js';
import { fileSettings, formerNames, type SettingValues, settings } from './settings.js';

/** The configuration is not valid. The message has one line for each error, which names the variable. */
export class ConfigError extends Error {
  constructor(readonly errors: readonly string[]) {
    const count = errors.length === 1 ? 'an error' : `${errors.length} errors`;
    super(`The configuration has ${count}:\n${errors.map((error) => `  ${error}`).join('\n')}`);
  }
}

/** The frozen configuration. Its members have the names of the variables, so that code and docs use the same names. */
export type Config = SettingValues & {
  /** Warnings for the operator, such as of a former name of a setting. */
  readonly warnings: readonly string[];
  /** All settings, without secrets. */
  readonly effective: readonly EffectiveSetting[];
};

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads and checks the configuration.
 * @throws ConfigError with all errors.
 */
export function readConfig(env: Environment = readEnvironment()): Config {
  const files = withFiles(env);
  const { env: current, warnings, errors } = withCurrentNames(files.env);
  errors.push(...files.errors);
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries<Setting<unknown>>(settings)) {
    const text = current[name] || setting.fallback;
    if (text === undefined) continue;
    const parsed = setting.parse(text);
    if ('error' in parsed) errors.push(`${name} ${parsed.error}`);
    else values[name] = parsed.value;
  }
  const unknown = Object.keys(env).filter((name) => name.startsWith('POSTERN_'));
  errors.push(...unknown.map((name) => `${name} is not a variable of Postern${suggestionFor(name)}`));
  errors.push(...contradictions(values as Partial<Config>));
  if (errors.length > 0) throw new ConfigError(errors);
  values.warnings = Object.freeze([...warnings, ...misspeltSettings(env), ...risks(values as Partial<Config>)]);
  values.effective = Object.freeze(effectiveSettings(current, values));
  return Object.freeze(values) as Config;
}

/** The end of the error for an unknown variable: the setting that was probably meant. */
function suggestionFor(name: string): string {
  const nameWithoutPrefix = name.replace(/^POSTERN_/, '');
  if (Object.hasOwn(settings, nameWithoutPrefix)) return `: use ${nameWithoutPrefix}, without the prefix`;
  const similar = nearestSimilar(nameWithoutPrefix, Object.keys(settings));
  return similar === undefined ? '' : `; did you mean ${similar}?`;
}

/**
 * Warnings of variables that differ from a setting in one or two letters. They are no errors, because variables of other
 * programs may look alike. Short names and names without an underscore are not compared for the same reason.
 */
function misspeltSettings(env: Environment): string[] {
  const settingNames = [...Object.keys(settings), ...fileSettings.keys()];
  return Object.keys(env).flatMap((name) => {
    const isCompared = name.length >= 8 && name.includes('_') && !name.startsWith('POSTERN_');
    if (!isCompared || settingNames.includes(name) || Object.hasOwn(formerNames, name)) return [];
    const similar = nearestSpelling(name, settingNames);
    return similar === undefined ? [] : [`${name} is not a variable of Postern; did you mean ${similar}?`];
  });
}

/** Reads the secrets whose variable NAME_FILE names a file. The end of the last line does not belong to the value. */
function withFiles(env: Environment): { env: Environment; errors: string[] } {
  const errors: string[] = [];
  const read: Record<string, string> = {};
  for (const [fileName, name] of fileSettings) {
    const path = env[fileName];
    if (!path) continue;
    if (env[name]) {
      errors.push(`${name} and ${fileName} exclude each other`);
      continue;
    }
    try {
      read[name] = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
      if (read[name] === '') errors.push(`${fileName}: the file is empty`);
    } catch (error) {
      // Somebody may have given the secret itself.
      errors.push(`${fileName} must be the path of a readable file (${(error as NodeJS.ErrnoException).code})`);
    }
  }
  return { env: { ...env, ...read }, errors };
}

/** Moves the values of former names to the current ones. Different values under both names are an error. */
function withCurrentNames(env: Environment) {
  const current: Record<string, string | undefined> = { ...env };
  const warnings: string[] = [];
  const errors: string[] = [];
  for (const [formerName, name] of Object.entries(formerNames)) {
    const value = env[formerName];
    if (!value) continue;
    warnings.push(`${formerName} is now called ${name}. The next version does not read the former name`);
    if (current[name] && current[name] !== value) errors.push(`${name} and its former name ${formerName} differ`);
    current[name] ||= value;
  }
  return { env: current, warnings, errors };
}

/**
 * The variables of the process and those of the `.env` file in the working directory. The variables of the process take
 * precedence.
 */
export function readEnvironment(): Record<string, string | undefined> {
  let file: Record<string, string | undefined> = {};
  try {
    file = parseEnv(readFileSync('.env', 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return { ...file, ...process.env };
}
