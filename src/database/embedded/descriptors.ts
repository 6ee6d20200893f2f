import { existsSync } from 'node:fs';

// An open descriptor leads to a folder past parents that the server's account may not enter, and it is a short name
// where the real path would not fit into the address of a unix socket (107 bytes). macOS has no /proc: there the
// plain path has to do.

/** Whether a descriptor can be used as a path. */
export const HAS_DESCRIPTOR_PATHS = existsSync('/proc/self/fd');

/** The place of an inherited folder in the `stdio` of a child: behind the three standard streams. */
const INHERITED_DESCRIPTOR = 3;

/** How this process names the folder `path` that it holds open as `descriptor`. */
export function ownName(descriptor: number, path: string): string {
  return HAS_DESCRIPTOR_PATHS ? `/proc/self/fd/${descriptor}` : path;
}

/** How a child names the folder `path` that it inherits as the fourth entry of its `stdio`. */
export function inheritedName(path: string): string {
  return HAS_DESCRIPTOR_PATHS ? `/proc/self/fd/${INHERITED_DESCRIPTOR}` : path;
}
