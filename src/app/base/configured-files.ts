import { type Config, ConfigError } from '../../config/config.js';
import { findSecretKeys } from '../../keys/secret-key-file.js';
import { readCustomTemplates } from '../../messages/custom-templates.js';
import type { MailBrand } from '../../messages/mail-html.js';
import type { TemplateTexts } from '../../messages/templates.js';
import { readLogo } from './logo.js';

/** The files of mails and texts. */
export interface ConfiguredTexts {
  /** The texts of TEMPLATES_DIR. */
  readonly texts: TemplateTexts;
  readonly brand: MailBrand;
}

/**
 * Reads the files that a start needs before it opens the database: an error in one of them must end the start before anything is written.
 * @throws ConfigError with all errors of the texts, or with the error of the logo
 * @throws SecretKeyError if the file of the secret keys is damaged. A missing one is created when it is needed
 */
export async function readConfiguredFiles(config: Config): Promise<ConfiguredTexts> {
  await findSecretKeys(config);
  const { texts, errors } = await readCustomTemplates(config.TEMPLATES_DIR);
  if (errors.length > 0) throw new ConfigError(errors.map((error) => `TEMPLATES_DIR: ${error}`));
  const { APP_NAME: name, APP_COLOR: color } = config;
  return { texts, brand: { name, color, logo: await readLogo(config) } };
}
