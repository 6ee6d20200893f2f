import { existsSync } from 'node:fs';

// An open descriptor reaches a folder below parents that the server's account may not enter. It is also a short name where
// the real path is too long for the address of a unix socket (107 bytes). macOS has no /proc, so it uses the plain path.

/** Whether a descriptor can be used as a path. */
export const HAS_DESCRIPTOR_PATHS = existsSync('/proc/self/fd');

/** The indexes of inherited files in the `stdio` of the server, after the three standard streams. */
export const INHERITED = { dataDirectory: 3, hba: 4, ident: 5 } as const;

/** The path by which this process reaches the file or folder `path` that it holds open as `descriptor`. */
export function ownName(descriptor: number, path: string): string {
  return HAS_DESCRIPTOR_PATHS ? `/proc/self/fd/${descriptor}` : path;
}

/** The path by which a child reaches the file or folder `path` that it inherits at an index of its `stdio`. */
export function inheritedName(path: string, index: number = INHERITED.dataDirectory): string {
  return HAS_DESCRIPTOR_PATHS ? `/proc/self/fd/${index}` : path;
}
