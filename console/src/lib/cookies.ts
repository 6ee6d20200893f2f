/** Whether this browser keeps cookies of this page. `navigator.cookieEnabled` alone is true in some browsers that refuse them. */
export function keepsCookies(): boolean {
  if (!navigator.cookieEnabled) return false;
  const name = 'postern_console_test';
  const attributes = '; Path=/; SameSite=Strict';
  try {
    // biome-ignore lint/suspicious/noDocumentCookie: the other interface for cookies is not in all browsers
    document.cookie = `${name}=1${attributes}`;
    const isKept = document.cookie.includes(`${name}=1`);
    // biome-ignore lint/suspicious/noDocumentCookie: as above
    document.cookie = `${name}=; Max-Age=0${attributes}`;
    return isKept;
  } catch {
    return false;
  }
}
