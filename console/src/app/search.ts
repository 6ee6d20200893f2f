/**
 * Parses the query of a page's URL, such as `?q=ada&status=locked`. All values are text: the router's own parser would
 * turn a search for 123 or true into a number or a boolean.
 */
export function parseQuery(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

export function stringifyQuery(query: Readonly<Record<string, unknown>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

/** For the `validateSearch` of a route: keeps the members with these names, and drops all others. */
export function queryWith<Name extends string>(...names: readonly Name[]) {
  return (query: Readonly<Record<string, unknown>>): { [N in Name]?: string } => {
    const members: { [N in Name]?: string } = {};
    for (const name of names) {
      const value = query[name];
      if (typeof value === 'string' && value !== '') members[name] = value;
    }
    return members;
  };
}
