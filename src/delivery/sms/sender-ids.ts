import { regionOf } from '../../lib/phone-region.js';

/** The senders of messages. A sender is a number in E.164, a short code, a name of up to 11 characters, or a service of the provider. */
export interface SenderIds {
  /** The sender for all countries that have no sender of their own. */
  readonly fallback: string | undefined;
  readonly rules: readonly SenderRule[];
}

/** The sender for messages to one country, or by one provider. */
export interface SenderRule {
  /** Undefined: every provider. */
  readonly provider: string | undefined;
  /** A region (ISO 3166-1 alpha-2). Undefined: every country. */
  readonly region: string | undefined;
  readonly sender: string;
}

/**
 * Chooses the sender of a message. The order is: the rule of the provider for the country, the rule of the provider, the
 * rule of the country, the fallback. A number belongs to one provider, so rules of the provider come first.
 * @param to E.164
 */
export function senderFor({ fallback, rules }: SenderIds, provider: string, to: string): string | undefined {
  if (rules.length === 0) return fallback;
  const region = regionOf(to);
  const find = (name: string | undefined, country: string | undefined) =>
    rules.find((rule) => rule.provider === name && rule.region === country)?.sender;
  const ofCountry = (name: string | undefined) => (region === undefined ? undefined : find(name, region));
  return ofCountry(provider) ?? find(provider, undefined) ?? ofCountry(undefined) ?? fallback;
}
