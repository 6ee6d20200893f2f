/** People of all scripts and lengths, and names that try to be markup. */
const people = [
  { name: 'Ada Lovelace', username: 'ada', phone: '+447700900077', password: 'a battery of horses' },
  {
    name: 'Grace Hopper',
    username: 'grace',
    email: 'grace@example.com',
    phone: '+15551234567',
    password: 'a battery of horses',
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

/**
 * Fills a service through its API, so that every page of the console has something to show.
 *
 * @param {string} url
 * @param {string} key with every scope
 */
export async function fillWithExamples(url, key) {
  /** @param {string} method @param {string} path @param {object} [body] @returns {Promise<Record<string, string>>} */
  const call = async (method, path, body) => {
    const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) };
    const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    const text = await response.text();
    return text === '' ? {} : JSON.parse(text);
  };
  /** @param {string} username @param {string} secret @param {object} device */
  const logIn = (username, secret, device) =>
    call('POST', '/v1/tokens', {
      identity: { type: 'username', value: username },
      authenticator: 'password',
      secret,
      device,
    });

  const users = [];
  for (const person of people) users.push(await call('POST', '/admin/v1/users', person));
  const named = (/** @type {string} */ username) => users.find((user) => user.username === username)?.id;

  await logIn('ada', 'a battery of horses', {
    make: 'Apple',
    model: 'iPhone 15 Pro',
    os_name: 'iOS',
    os_version: '18.1',
  });
  await logIn('bobby', 'a battery of horses', {
    make: 'Lenovo',
    model: 'ThinkPad X1',
    os_name: 'Windows',
    os_version: '11',
  });
  await logIn('grace', 'a battery of horses', {
    make: 'Google',
    model: 'Pixel 9',
    os_name: 'Android',
    os_version: '15',
  });
  for (let guess = 1; guess <= 5; guess += 1) await logIn('grace', 'not this one', { make: 'Acme', model: 'Terminal' });
  const until = new Date(Date.now() + 7 * 86_400_000).toISOString();
  await call('POST', `/admin/v1/users/${named('edsger')}/lock`, { until, reason: 'Asked by phone' });
  await call('POST', `/admin/v1/users/${named('joseantonio')}/lock`, { permanent: true, reason: 'Fraud' });
  await call('PATCH', `/admin/v1/users/${named('zz_94817')}`, { status: 'deactivated' });
  for (const [type, description] of [
    ['payment', 'Ada Lovelace paid you 12.50'],
    ['pool', 'Linus, the 2nd invites you to a pool'],
    ['request', 'لديك طلب دفع جديد من ليلى المنصوري'],
  ]) {
    await call('POST', '/admin/v1/notifications', { user_id: named('grace'), notification_type: type, description });
  }
}
