import { join } from 'node:path';

/** For the bundler of tests: the React of the folder `REACT_18`, if it is set, instead of the project's. The hooks are tested with both. */
export function otherReact(): { find: RegExp; replacement: string }[] {
  const folder = process.env.REACT_18;
  if (folder === undefined) return [];
  return [{ find: /^(react(?:-dom)?)(?=\/|$)/, replacement: join(folder, 'node_modules/$1') }];
}
