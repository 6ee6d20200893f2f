import { type Image, imageFiles, type Rendition } from '../../contract/image.js';
import type { FieldError } from '../../lib/problem.js';

/** Returns why a URL may not be used, in words; undefined if it may. */
export type CheckUrl = (url: string) => string | undefined;

/** The URLs of an uploaded image, by its id. */
export type ImageUrls = (id: string) => Pick<Image, 'url' | 'full_screen_url' | 'thumbnail_url'>;

/**
 * @param base the URL at which clients reach the service; called at each use, because the port may be known only when
 *   the service listens
 */
export function createImageUrls(base: () => string): ImageUrls {
  return (id) => {
    const root = base().replace(/\/+$/, '');
    const to = (rendition: Rendition) => `${root}/images/${id}/${imageFiles[rendition]}`;
    return { url: to('card'), full_screen_url: to('full'), thumbnail_url: to('thumbnail') };
  };
}

// RFC 3986, section 3. The WHATWG parser of browsers accepts more, but the API promises a URI.
const pathCharacter = "(?:[A-Za-z0-9\\-._~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2})";
const uriPattern = new RegExp(
  `^https?://[^/?#]+(?:/${pathCharacter}*)?(?:\\?(?:${pathCharacter}|\\?)*)?(?:#(?:${pathCharacter}|\\?)*)?$`,
);

/** Checks the URL of an image that is hosted elsewhere. Returns the error; undefined if the URL may be used. */
export function imageUrlError(url: string, field: string, checkUrl: CheckUrl): FieldError | undefined {
  const reason = checkUrl(url) ?? (uriPattern.test(canonicalUrl(url)) ? undefined : 'not a valid URL');
  return reason === undefined ? undefined : { field, code: 'invalid_url', params: { reason } };
}

/** The URL as it is checked and stored. The parser changes backslashes, unusual hosts and characters beyond ASCII. */
export function canonicalUrl(url: string): string {
  return new URL(url).href;
}
