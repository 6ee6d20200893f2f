/** Repeats the same texts for the same seed (mulberry32). */
function randomOf(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** An address that an attacker makes of a listed one. */
function forgery(listed: readonly string[], random: (below: number) => number): string {
  const pick = <T>(values: readonly T[]) => values[random(values.length)] as T;
  const host = pick([
    'evil.example',
    'app.example.com',
    '127.0.0.1',
    '[::1]',
    'localhost',
    '0x7f.1',
    'app.example.com.',
  ]);
  const pieces = [
    ...[
      '/',
      '//',
      '\\',
      '@',
      ':',
      '?',
      '#',
      '.',
      '..',
      '%2e',
      '%2f',
      '%00',
      '\t',
      '\n',
      ' ',
      ':443',
      ':80',
      ':99999',
      ':1',
    ],
    ...[
      '@evil.example',
      '.evil.example',
      '?next=',
      '#',
      '&',
      ';',
      'javascript:',
      'https:',
      'http://',
      'А',
      '｡',
      '\u202e',
    ],
  ];
  let text = pick(listed);
  for (let times = random(3) + 1; times > 0; times -= 1) {
    const at = random(text.length + 1);
    const change = random(7);
    if (change === 0) text = text.slice(0, at) + pick(pieces) + text.slice(at);
    else if (change === 1) text = text.slice(0, at) + text.slice(at + 1 + random(3));
    else if (change === 2) text = text.replace(/\/\/[^/?]*/, `//${host}`);
    else if (change === 3) text = text.slice(0, at) + text.slice(at).toUpperCase();
    else if (change === 4)
      text = text.replace(/^[a-z.]+:/, `${pick(['https', 'http', 'ftp', 'javascript', 'data', ''])}:`);
    else if (change === 5) text = text.replace(/^(http:\/\/[^/]*)/, `$1:${random(70_000)}`);
    else text += pick(pieces);
  }
  return text;
}

/** Different addresses that an attacker makes of the listed ones, the same for each run. */
export function forgedAddresses(listed: readonly string[], count: number): string[] {
  const random = randomOf(20_261_129);
  const different = new Set<string>();
  while (different.size < count) different.add(forgery(listed, random));
  return [...different];
}

/** Whether an address is listed, by the parsed address, and not by the text. */
export const isListedAddress = (listed: readonly string[], to: string): boolean =>
  listed.some((one) => {
    if (to === one) return true;
    const [given, allowed] = [URL.parse?.(to) ?? undefined, new URL(one)];
    const isLoopback = allowed.hostname === '127.0.0.1' || allowed.hostname === '[::1]';
    if (given === undefined || !isLoopback || !/^http:\/\/[^/]*:\d{1,5}\//.test(to)) return false;
    given.port = '';
    return (
      given.href === allowed.href &&
      to.startsWith(`http://${allowed.hostname}:`) &&
      to.endsWith(one.slice(one.indexOf('/done')))
    );
  });
