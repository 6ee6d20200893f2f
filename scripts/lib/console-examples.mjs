import { randomUUID } from 'node:crypto';

/** The users that the pictures show: all scripts and lengths, and names that try to be markup. */
const people = [
  {
    name: 'Ada Lovelace',
    username: 'ada',
    email: 'ada@example.com',
    phone: '+447700900077',
    password: 'a battery of horses',
    locale: 'en-GB',
  },
  {
    name: 'Grace Hopper',
    username: 'grace',
    email: 'grace@example.com',
    phone: '+15551234567',
    password: 'a battery of horses',
    pin: '482915',
    locale: 'en-US',
    metadata: { plan: 'family', crm: 'https://crm.example/a/0b0ba41c' },
  },
  { name: 'ليلى عبد الرحمن المنصوري', email: 'layla.mansouri@example.ae', phone: '+971501234567' },
  { name: '<b>Bobby</b> Tables', username: 'bobby', password: 'a battery of horses' },
  {
    name: 'Maximiliana Wolfeschlegelsteinhausenbergerdorff von und zu Hohenlohe',
    email: 'maximiliana.wolfeschlegelsteinhausenbergerdorff@example.de',
    phone: '+4915123456789',
  },
  { name: 'Олександра Ковальчук', email: 'oleksandra.k@example.ua', phone: '+380501234567' },
  { name: 'José Antonio Ñíguez de la Fuente y Ortega', username: 'joseantonio', phone: '+34612345678' },
  { name: 'Nguyễn Thị Minh Khai', email: 'minhkhai@example.vn', phone: '+84912345678' },
  { name: 'Edsger Dijkstra', username: 'edsger', password: 'a battery of horses' },
  { name: 'יעל בן־דוד', email: 'yael@example.co.il', phone: '+972521234567' },
  { name: 'Björk Þórðardóttir', email: 'bjork@example.is', phone: '+3546111234' },
  { username: 'zz_94817' },
];

const firstNames =
  'Amara Noor Mateo Yuki Ingrid Kwame Priya Lucía Tomás Aoife Wei Fatima Dmitri Chiara Jonas Leila Samuel Ewa Hiroshi Zoë';
const lastNames =
  'Okafor Haddad García Tanaka Lindqvist Mensah Sharma Romero Novák Byrne Zhang El-Sayed Ivanov Ricci Weber Farahani Osei Kowalska Sato Papadopoulos';

/** Further people, for lists that have more than one page. @param {number} count */
function crowd(count) {
  const first = firstNames.split(' ');
  const last = lastNames.split(' ');
  return Array.from({ length: count }, (_, index) => {
    const given = first[index % first.length] ?? '';
    const family = last[(index * 7 + Math.floor(index / first.length)) % last.length] ?? '';
    const plain = (/** @type {string} */ name) =>
      name
        .normalize('NFD')
        .replaceAll(/[^A-Za-z]/g, '')
        .toLowerCase();
    return {
      name: `${given} ${family}`,
      email: `${plain(given)}.${plain(family)}${index}@example.com`,
      ...(index % 3 !== 0 && { phone: `+4477009${String(10_000 + index)}` }),
      created_at: new Date(Date.now() - index ** 2 * 3_600_000 - 7_200_000).toISOString(),
    };
  });
}

const devices = {
  iphone: { id: randomUUID(), make: 'Apple', model: 'iPhone 15 Pro', os_name: 'iOS', os_version: '18.1' },
  laptop: { id: randomUUID(), make: 'Lenovo', model: 'ThinkPad X1', os_name: 'Windows', os_version: '11' },
  pixel: { id: randomUUID(), make: 'Google', model: 'Pixel 9', os_name: 'Android', os_version: '15' },
};

/**
 * Fills a service through its API, so that every page of the console has something to show.
 *
 * @param {string} url
 * @param {string} key with every scope
 * @param {string} receiver the URL of a server that gets webhooks: it answers 204, and 503 at `/broken`
 */
export async function fillWithExamples(url, key, receiver) {
  /** @param {string} method @param {string} path @param {object | string} [body] a text is NDJSON */
  const send = async (method, path, body) => {
    const type = typeof body === 'string' ? 'application/x-ndjson' : 'application/json';
    const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': type }) };
    const content = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(url + path, { method, headers, ...(body && { body: content }) });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.text();
  };
  /** @param {string} method @param {string} path @param {object} [body] @returns {Promise<Record<string, string>>} */
  const call = async (method, path, body) => {
    const text = await send(method, path, body);
    return text === '' ? {} : JSON.parse(text);
  };
  /** @param {string} username @param {object} device */
  const logIn = (username, device, secret = 'a battery of horses', more = {}) =>
    call('POST', '/v1/tokens', {
      identity: { type: 'username', value: username },
      authenticator: 'password',
      secret,
      device,
      ...more,
    });

  for (const [path, description, events] of /** @type {const} */ ([
    ['/ledger', 'The ledger', ['user.*', 'notification.created']],
    ['/broken', 'The warehouse of the marketing team', ['login.*', 'device.added']],
  ])) {
    await call('POST', '/admin/v1/webhooks', { url: receiver + path, description, events });
  }
  const lines = crowd(400).map((person) => JSON.stringify(person));
  await send('POST', '/admin/v1/users/import', lines.join('\n'));
  const users = [];
  for (const person of people) users.push(await call('POST', '/admin/v1/users', person));
  const idOf = (/** @type {string} */ username) => users.find((user) => user.username === username)?.id ?? '';

  await publishToClubs(call, send, users);

  await logIn('ada', devices.iphone);
  await logIn('bobby', devices.laptop);
  for (const device of Object.values(devices)) await logIn('grace', device, 'a battery of horses', { pin: '482915' });
  const terminal = { make: 'Acme', model: 'Terminal' };
  for (let guess = 1; guess <= 5; guess += 1) await logIn('grace', terminal, 'not this one', { pin: '482915' });
  const until = new Date(Date.now() + 7 * 86_400_000).toISOString();
  await call('POST', `/admin/v1/users/${idOf('edsger')}/lock`, { until, reason: 'Asked by phone' });
  await call('POST', `/admin/v1/users/${idOf('joseantonio')}/lock`, { permanent: true, reason: 'Fraud' });
  await call('PATCH', `/admin/v1/users/${idOf('zz_94817')}`, { status: 'deactivated' });
  for (const [type, description] of [
    ['pool', 'Linus, the 2nd invites you to a pool'],
    ['request', 'لديك طلب دفع جديد من ليلى المنصوري'],
    ['payment', 'Ada Lovelace paid you 12.50'],
  ]) {
    await call('POST', '/admin/v1/notifications', { user_id: idOf('grace'), notification_type: type, description });
  }
  for (const [name, scopes] of /** @type {const} */ ([
    ['billing', ['notifications:write']],
    ['support-desk', ['users:read', 'users:write']],
    ['session checks of the shop', ['sessions:verify']],
    ['ledger-old', ['notifications:write']],
  ])) {
    const { id } = await call('POST', '/admin/v1/keys', { name, scopes });
    if (name === 'ledger-old') await call('DELETE', `/admin/v1/keys/${id}`);
  }
  const inDays = (/** @type {number} */ days) => new Date(Date.now() + days * 86_400_000).toISOString();
  await call('POST', '/admin/v1/blocks', {
    address: '203.0.113.0/24',
    reason: 'Guesses passwords',
    ends_at: inDays(7),
  });
  await call('POST', '/admin/v1/blocks', { address: '2001:db8:1:2::/64', reason: 'Scraper' });
  const identity = { type: 'phone', value: '+34612345678' };
  await call('POST', '/admin/v1/test-identities', { identity, code: '424242', expires_at: inDays(13) });
  await call('POST', '/admin/v1/backups');
}

/**
 * Topics, and publications in different states.
 * @param {(method: string, path: string, body?: object) => Promise<Record<string, string>>} call
 * @param {(method: string, path: string, body?: string) => Promise<string>} send
 * @param {readonly Record<string, string>[]} users
 */
async function publishToClubs(call, send, users) {
  const topics = {
    'club.chess': 'Chess club',
    'club.cooks': 'نادي الطبخ',
    'shop.offers': 'Offers of the week',
    staff: 'Everybody who works here',
  };
  for (const [key, title] of Object.entries(topics))
    await call('PUT', `/admin/v1/topics/${key}`, { title, is_open: key !== 'staff' });
  const lines = users.map(({ id }) => `${JSON.stringify({ user_id: id })}\n`).join('');
  await send('POST', '/admin/v1/topics/club.chess/subscriptions', lines);
  /** @param {object} to @param {string} description @param {object} [more] */
  const publish = (to, description, more = {}) => {
    const notification = { notification_type: 'request', actor: 'Chess club', description };
    return call('POST', '/admin/v1/publications', { to, notification, ...more });
  };
  await publish({ topic: 'club.chess' }, 'The tournament begins on Friday at six. Bring a clock.');
  await publish({ users: 'locale:es' }, 'Hemos cambiado nuestros horarios de verano.');
  const mistake = await publish({ everyone: true }, 'This was only a test of the marketing team', { rate: 20 });
  await publish({ topic: 'shop.offers' }, 'Three for the price of two', {
    send_at: new Date(Date.now() + 3 * 86_400_000).toISOString(),
    rate: 500,
  });
  await new Promise((resolve) => setTimeout(resolve, 4000));
  await call('POST', `/admin/v1/publications/${mistake.id}/recall`);
  await publish({ everyone: true }, 'We are back: everything works again.', { rate: 5 });
}
