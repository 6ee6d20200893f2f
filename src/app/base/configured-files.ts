import { type Config, ConfigError } from '../../config/config.js';
import { findSecretKeys } from '../../keys/secret-key-file.js';
import { readCustomTemplates } from '../../messages/custom-templates.js';
import type { TemplateTexts } from '../../messages/templates.js';

/**
 * Reads the files that a start needs before it opens the database: an error in one of them must end the start before anything
 * is written.
 * @returns the texts of TEMPLATES_DIR
 * @throws ConfigError with all errors of the texts
 * @throws SecretKeyError if the file of the secret keys is damaged. A missing one is created when it is needed
 */
export async function readConfiguredFiles(config: Config): Promise<TemplateTexts> {
  await findSecretKeys(config);
  const { texts, errors } = await readCustomTemplates(config.TEMPLATES_DIR);
  if (errors.length > 0) throw new ConfigError(errors.map((error) => `TEMPLATES_DIR: ${error}`));
  return texts;
}
