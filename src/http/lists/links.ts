const relationNames = ['first', 'prev', 'next', 'last'] as const;
export type Relation = (typeof relationNames)[number];

export interface Links {
  /** Path-absolute and already encoded, such as `/v1/notifications`. */
  readonly path: string;
  /** The client's parameters that every link keeps (`filter`, `sort`, `limit`, …), decoded. */
  readonly query: Readonly<Record<string, string>>;
  /** For each existing relation, the parameters of its link, decoded. They override the parameters in `query`. */
  readonly relations: { readonly [name in Relation]?: Readonly<Record<string, string>> | undefined };
}

/**
 * The value of a `Link` header (RFC 8288); empty without relations. Existing clients split the header at `,` and each
 * entry at `; `. So a comma without a space joins the entries, and no URL in the header contains a comma or a
 * semicolon.
 */
export function linkHeader({ path, query, relations }: Links): string {
  return relationNames
    .flatMap((name) => {
      const target = relations[name];
      return target ? [`<${path}?${encodeQuery({ ...target, ...without(query, target) })}>; rel="${name}"`] : [];
    })
    .join(',');
}

function without(query: Links['query'], target: Links['query']): Record<string, string> {
  return Object.fromEntries(Object.entries(query).filter(([name]) => !Object.hasOwn(target, name)));
}

/**
 * Percent-encodes everything except letters, digits, `-`, `.` and `_`. encodeURIComponent throws for a lone surrogate.
 * URLSearchParams does not, but writes a space as `+`, which not every parser decodes.
 */
function encodeQuery(parameters: Readonly<Record<string, string>>): string {
  return new URLSearchParams(parameters).toString().replaceAll('+', '%20').replaceAll('*', '%2A');
}
