/**
 * An address that a row or an action may lead to: of the web, or of an app, whose scheme has a dot. Others, such as `javascript:`, could
 * run a script.
 */
export function webAddress(text: string | null): string | null {
  if (!text || !URL.canParse(text, location.href)) return null;
  return /^(https?|[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+):$/.test(new URL(text, location.href).protocol) ? text : null;
}
