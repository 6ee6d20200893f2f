/** Which steps of notifications leave the service: all, those to listed addresses, or none. */
export type OutboundMode = 'live' | 'allowlist' | 'off';

/** Where steps may go with `OUTBOUND=allowlist`. All are canonical. */
export interface OutboundAllowlist {
  /** Mail addresses and phone numbers. */
  readonly addresses: ReadonlySet<string>;
  /** The domains of mail addresses, without their subdomains. */
  readonly domains: ReadonlySet<string>;
}

/**
 * Whether a step may leave the service.
 * @param addresses canonical: where the step goes, or for a push the proven addresses of its user, one of which must be listed
 */
export type OutboundRule = (addresses: readonly (string | null)[]) => boolean;

/** Creates the rule of OUTBOUND, which keeps an installation with a copy of real data from writing to real people. */
export function createOutboundRule(mode: OutboundMode, allowlist: OutboundAllowlist | undefined): OutboundRule {
  if (mode !== 'allowlist' || allowlist === undefined) return () => mode === 'live';
  const { addresses, domains } = allowlist;
  const isListed = (address: string) => {
    const at = address.lastIndexOf('@');
    return addresses.has(address) || (at !== -1 && domains.has(address.slice(at + 1)));
  };
  return (named) => named.some((address) => address !== null && isListed(address));
}
