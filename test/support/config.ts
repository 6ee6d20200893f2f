import { ConfigError, readConfig } from '../../src/config/config.js';

/** The errors of a configuration. */
export function errorsOf(env: Readonly<Record<string, string>>): readonly string[] {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.errors;
    throw error;
  }
  return [];
}
