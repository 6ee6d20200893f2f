import { existsSync, readFileSync } from 'node:fs';

/** The folder of package.json, with a slash at its end. The sources and the compiled files lie at different depths below it. */
export const packageFolder = folderWithManifest(new URL('.', import.meta.url));

function folderWithManifest(folder: URL): URL {
  return existsSync(new URL('package.json', folder)) ? folder : folderWithManifest(new URL('..', folder));
}

const manifest = JSON.parse(readFileSync(new URL('package.json', packageFolder), 'utf8')) as {
  version: string;
};

/** The version of this Postern. */
export const { version } = manifest;
