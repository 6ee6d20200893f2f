import type { Vendor } from './vendor.js';

/** A browser that goes through logins by redirect and keeps its cookies. */
export interface RedirectBrowser {
  /**
   * Goes to an address of Postern, through the vendor, and back.
   *
   * @returns the address of the app to which Postern sends it
   */
  goThrough(url: string): Promise<string>;
}

/** @param service the addresses of the service: what PUBLIC_URL says, and where it listens */
export function createRedirectBrowser(
  vendor: Vendor,
  { publicUrl, url: service }: { readonly publicUrl: string; readonly url: string },
): RedirectBrowser {
  const jar = new Map<string, string>();
  async function open(address: string): Promise<string> {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(address.replace(publicUrl, service), {
      ...{ redirect: 'manual', headers: cookie === '' ? {} : { cookie } },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      jar.set(name, value);
    }
    const next = response.headers.get('location');
    if (next === null) throw new Error(`${response.status} ${await response.text()}`);
    return next;
  }
  return {
    async goThrough(url) {
      const { to, answer } = await vendor.authorize(await open(url));
      return open(`${publicUrl}${to.pathname}?${answer}`);
    },
  };
}
