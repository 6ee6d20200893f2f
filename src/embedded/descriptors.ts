import { existsSync } from 'node:fs';

// With an open descriptor, the server can use a folder although its account may not enter the parent folders. It is also a
// short name if the path is too long for the address of a unix socket (107 bytes). macOS has no /proc: it uses the path.

/** Whether a descriptor can be used as a path. */
export const hasDescriptorPaths = existsSync('/proc/self/fd');

/** The indexes of inherited files in the `stdio` of the server, after the three standard streams. */
export const inheritedIndexes = { dataDirectory: 3, hba: 4, ident: 5 } as const;

/** The path by which this process reaches the file or folder `path` that it holds open as `descriptor`. */
export function ownPath(descriptor: number, path: string): string {
  return hasDescriptorPaths ? `/proc/self/fd/${descriptor}` : path;
}

/** The path by which a child reaches the file or folder `path` that it inherits at an index of its `stdio`. */
export function inheritedPath(path: string, index: number = inheritedIndexes.dataDirectory): string {
  return hasDescriptorPaths ? `/proc/self/fd/${index}` : path;
}
