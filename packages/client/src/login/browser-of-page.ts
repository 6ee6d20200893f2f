/** The parts of a page that send it elsewhere and change its address. */
interface Page {
  readonly location?: { readonly href: string; assign(url: string): void };
  readonly history?: { readonly state: unknown; replaceState(state: unknown, unused: string, url: string): void };
}

/** The browser that shows this page. Undefined in apps and on servers. */
export function browserOfPage() {
  const { location, history } = globalThis as Page;
  if (location?.assign === undefined || history === undefined) return undefined;
  return {
    leave(url: string): undefined {
      location.assign(url);
      return undefined;
    },
    /** Replaces the address, unless the page has another one by now. A reload and the history must not contain a code. */
    clean(address: string, next: string): void {
      if (location.href === address && next !== address) history.replaceState(history.state, '', next);
    },
  };
}
