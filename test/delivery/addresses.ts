/** Addresses that no outgoing call may reach, with the name of their range. */
export const blocked = [
  ['unspecified', '0.0.0.0', '0.1.2.3', '::'],
  ['loopback', '127.0.0.1', '127.255.255.254', '::1'],
  ['private', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  ['link-local and cloud metadata', '169.254.169.254', 'fe80::1', 'febf::1'],
  ['carrier-grade NAT', '100.64.0.1', '100.127.255.255', '100.100.100.200'],
  ['multicast', '224.0.0.1', '239.255.255.250', 'ff02::1'],
  ['broadcast and reserved', '255.255.255.255', '240.0.0.1', '192.0.0.1', '192.88.99.1'],
  ['documentation', '192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  ['benchmarking', '198.18.0.1', '198.19.255.255', '2001:2::1'],
  ['unique local and site-local', 'fc00::1', 'fd12:3456::1', 'fec0::1'],
  ['IPv4-mapped', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:8.8.8.8', '::ffff:0:127.0.0.1'],
  ['IPv4-compatible', '::127.0.0.1', '::7f00:1', '::a00:1'],
  ['NAT64', '64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::a00:1'],
  ['6to4', '2002:7f00:1::', '2002:a00:1::1'],
  ['Teredo', '2001:0:4136:e378:8000:63bf:80ff:fffe'],
  ['other special purposes', '100::1', '2001:10::1', '2001:20::1', '5f00::1'],
  ['never assigned', '4000::1', '1::1', '::1:0:0:1'],
].flatMap(([range, ...addresses]) => addresses.map((address) => [range, address] as const));

/** A URL with an address as its host. */
export const urlOf = (address: string) => (address.includes(':') ? `https://[${address}]/` : `https://${address}/`);

/** Loopback in forms that a parser of URLs accepts. */
export const loopbackForms = [
  '0x7f.1',
  '0x7f000001',
  '2130706433',
  '017700000001',
  '127.1',
  '127.0.1',
  '127.0.0.1.',
  '0',
  '①②⑦.0.0.1',
  '１２７.0.0.1',
  '127。0。0。1',
  '%31%32%37.0.0.1',
  '[::ffff:127.0.0.1]',
  '[0:0:0:0:0:ffff:7f00:0001]',
];
