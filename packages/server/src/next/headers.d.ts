// The part of Next.js that the adapter uses. The packages have no development dependencies.
declare module 'next/headers.js' {
  interface CookieStore {
    toString(): string;
    set(name: string, value: string, options: object): unknown;
  }
  interface ReceivedHeaders {
    get(name: string): string | null;
  }
  export function cookies(): CookieStore | Promise<CookieStore>;
  export function headers(): ReceivedHeaders | Promise<ReceivedHeaders>;
}
