const relationNames = ['first', 'prev', 'next', 'last'] as const;
type Relation = (typeof relationNames)[number];

export interface Links {
  /** Path-absolute and already encoded, such as `/v1/notifications`. */
  readonly path: string;
  /** The client's own parameters that every link keeps (`filter`, `sort`, `limit`, …), decoded. */
  readonly query: Readonly<Record<string, string>>;
  /** For each relation that exists the parameters that lead there, decoded; they win over those of `query`. */
  readonly relations: { readonly [name in Relation]?: Readonly<Record<string, string>> | undefined };
}

/**
 * The value of a `Link` header (RFC 8288), empty when there is no relation. Published clients split it at `,` and take
 * entries apart at `; `: so entries are joined by a comma without a space, and neither occurs inside a reference.
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
 * Percent-encodes everything but letters, digits, `-`, `.` and `_`. Built on URLSearchParams, because
 * encodeURIComponent throws for a lone surrogate; that writes a space as `+`, which not every parser undoes.
 */
function encodeQuery(parameters: Readonly<Record<string, string>>): string {
  return new URLSearchParams(parameters).toString().replaceAll('+', '%20').replaceAll('*', '%2A');
}
