import { expect, it } from 'vitest';
import { canonicalIdentity, type IdentityType } from '../../src/identities/identity.js';

export const canonical = (type: IdentityType, value: string, region?: string) =>
  canonicalIdentity(type, value, region)?.canonical;

const printable = (text: string) =>
  JSON.stringify(text).replace(/[^\x20-\x7e]/gu, (c) => `\\u{${c.codePointAt(0)?.toString(16)}}`);

/** Titles show the values with escapes, because most hostile values look like harmless ones. */
export function refuses(type: IdentityType, values: readonly (readonly [reason: string, value: string])[]) {
  it.each(values.map(([reason, value]) => [reason, printable(value).slice(0, 60), value] as const))(
    'refuses %s: %s',
    (_reason, _shown, value) => {
      expect(canonicalIdentity(type, value)).toBeUndefined();
    },
  );
}
