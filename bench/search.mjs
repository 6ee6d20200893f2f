// The search for users at 10 million: `node bench/search.mjs`. It needs 25 GB of disk and half an hour.
// `node bench/search.mjs FOLDER [USERS]` keeps the database in FOLDER, for a further run.
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildIndexes } from '../dist/tools.js';
import { fill, inBulk } from './generate.mjs';
import { shown, summarise, table } from './measure.mjs';
import { record } from './results.mjs';
import { openPostgres, startPostern } from './service.mjs';

/** The number of measured requests of each kind. */
const samples = 300;
const warmUps = 30;

const first =
  'ada,grace,alan,edsger,barbara,donald,linus,margaret,katherine,dorothy,mary,john,james,robert,michael,william,david,richard,joseph,thomas,charles,maria,jose,luis,carlos,ana,laura,elena,sofia,lucia,juan,pedro,miguel,pablo,ivan,olga,dmitri,anna,natalia,sergei,wei,fang,min,jing,hiroshi,yuki,sakura,kenji,ahmed,fatima,omar,layla,yusuf,zainab,priya,rahul,anjali,vikram,kofi,ama,kwame,zola,björn,åsa,søren,zoë,rené,françois'.split(
    ',',
  );
const syllables =
  'ab,ad,al,am,an,ar,as,ba,be,bo,bra,ca,che,chi,co,da,den,der,do,dra,ed,el,en,er,es,fa,fer,fi,fo,ga,gar,ger,go,gra,ha,han,hel,ho,ib,in,is,ja,je,jo,ka,ker,ki,ko,la,lan,le,li,lo,ma,man,mar,mei,mi,mo,na,ne,ni,no,oh,ol,or,pa,pe,pi,po,qu,ra,ren,ri,ro,sa,san,sch,se,shi,so,sta,ta,te,ti,to,tra,ul,um,ur,va,ver,vi,wa,wen,wi,xi,ya,yo,za,ze,zi,zo'.split(
    ',',
  );
const domains =
  'gmail.com,gmail.com,gmail.com,gmail.com,yahoo.com,outlook.com,icloud.com,example.com,example.org,proton.me,mail.ru,gmx.de,web.de,qq.com,naver.com,acme.io,corp.example,uni.example.edu,post.example.net,splitter.example'.split(
    ',',
  );

const helpers = `
  create schema bench;
  create function bench.id(kind text, n bigint) returns uuid immutable language sql return md5(kind || n::text)::uuid;
  create function bench.pick(list text[], kind text, n bigint) returns text immutable language sql
    return list[1 + (hashtextextended(kind || n, 0) & 1073741823) % cardinality(list)];`;

const array = (words) => `'{${words.join(',')}}'::text[]`;
const person = `
  lateral (select bench.pick(${array(first)}, 'f', n) as first,
    bench.pick(${array(syllables)}, 'a', n) || bench.pick(${array(syllables)}, 'b', n) || bench.pick(${array(syllables)}, 'c', n) as last,
    (hashint8extended(n, 7) & 9007199254740991) as h) p,
  lateral (select case when h % 10 < 4 then first || left(last, 3) || n end as username,
    case when h % 100 < 85 then first || '.' || last || n || '@' || bench.pick(${array(domains)}, 'd', n) end as email,
    case when h % 10 between 3 and 8 then '+1' || (2000000000 + h % 7999999999)::text end as phone) i`;
const fills = (users) => ({
  users: `select bench.id('user', n), username, email,
      coalesce(phone, case when username is null and email is null then '+49' || (15000000000 + n)::text end), initcap(first || ' ' || last), null,
      case when h % 500 = 0 then 'deactivated' else 'active' end, case when n % 1000000 = 7 then 'support' else 'user' end,
      case when h % 2000 = 1 then 'permanent' end, null, null, 0, null, null, '{}', at, at
    from generate_series(1, ${users}) n, ${person},
      lateral (select now() - interval '3000 days' + n * (interval '3000 days' / ${users}) as at) t`,
  identities: `select sha256(('email' || e'\\n' || email)::bytea), id, 'email', email from users where email is not null`,
  devices: `select bench.id('user', n), bench.id('device', n), 'Acme', 'Phone', 'Os', '1.0', null, null,
      'token' || n, null, null, now(), now(), now() - (n % 900) * interval '1 day'
    from generate_series(1, ${users}) n`,
});
const [keptFolder, count = '10000000'] = process.argv.slice(2);
const folder = keptFolder === undefined ? await mkdtemp(join(tmpdir(), 'postern-search-')) : resolve(keptFolder);
const users = Number(count);
const say = (line) => console.error(`${new Date().toISOString().slice(11, 19)} ${line}`);
const stops = [];
try {
  await main();
} finally {
  for (const stop of stops) await stop();
  if (keptFolder === undefined) await rm(folder, { recursive: true, force: true });
}

async function main() {
  const isNew = !existsSync(join(folder, 'postgres'));
  await mkdir(folder, { recursive: true });
  const postgres = await openPostgres(folder);
  stops.unshift(() => postgres.close());
  const pool = postgres.pool();
  if (isNew) await fillAll(postgres, pool);
  await postgres.migrate();
  const indexes = await buildMissing(postgres.target, pool);
  const postern = await startPostern(folder);
  stops.unshift(() => postern.stop());
  const ask = (path) => get(postern, path);
  const rows = [];
  for (const [title, next, wanted] of operations(await sample(pool))) {
    const row = await measure(title, wanted, next, ask);
    rows.push(row);
    say(row.join(' | '));
  }
  const text = `${users.toLocaleString('en')} users, 85 % with a mail address, 60 % with a phone number and 40 % with a username. The requests run one at a time, ${samples} of each kind after ${warmUps} to warm up. Their search terms are random parts of the values of random users.
Each answer contains up to 20 users and a count up to 1,000.
${indexes}

${table([['GET /admin/v1/users/page', 'p50 ms', 'p99 ms', 'max ms', 'wanted', 'found', 'more than 1,000', 'partial'], ...rows])}`;
  console.log(text);
  await record('search', text);
}

async function fillAll(postgres, pool) {
  await postgres.migrate();
  await pool.query(helpers);
  await inBulk(pool, async () => {
    for (const [name, select] of Object.entries(fills(users))) await fill(pool, name, select, say);
  });
}

/** Builds the index of searches as a service does in the background, after pg_trgm was installed. */
async function buildMissing(target, pool) {
  await pool.query('drop index if exists users_by_search_text');
  const since = performance.now();
  await buildIndexes(target, new AbortController().signal);
  const minutes = ((performance.now() - since) / 60_000).toFixed(1);
  const { rows } = await pool.query(
    `select pg_relation_size('users') as users, pg_relation_size('users_by_search_text') as search`,
  );
  const gigabytes = (bytes) => `${(bytes / 2 ** 30).toFixed(1)} GB`;
  return `Building the index of searches after the start took ${minutes} minutes without other load. The index has ${gigabytes(rows[0].search)}, the table ${gigabytes(rows[0].users)}.`;
}

/** Users at random. */
async function sample(pool) {
  const { rows } = await pool.query(
    `select u.id, u.username, u.email, u.phone, u.name, bench.id('device', n) as device
     from (select 1 + floor(random() * $1)::bigint as n from generate_series(1, 4000)) s
     join users u on u.id = bench.id('user', n)`,
    [users],
  );
  return rows;
}

/** The kinds of requests: a title, the query of the next one, and the p50 and p99 that are wanted. */
function operations(people) {
  const any = (list) => list[Math.floor(Math.random() * list.length)];
  const having = (field) => any(people.filter((person) => person[field] !== null));
  const part = (text, length) => {
    const start = Math.floor(Math.random() * (text.length - length + 1));
    return text.slice(start, start + length);
  };
  const search = (text, filter) =>
    `search=${encodeURIComponent(text)}${filter === undefined ? '' : `&filter=${encodeURIComponent(filter)}`}`;
  const fast = [20, 100];
  const exact = [undefined, 5];
  const bounded = [undefined, 4000];
  const lastName = () => having('name').name.split(' ')[1] ?? '';
  const fragment = (field, length) => () => search(part(having(field)[field], length));
  const letters = (field) => () => {
    for (;;) {
      const text = part(having(field)[field], 3);
      if (/^[a-z]{3}$/i.test(text)) return search(text);
    }
  };
  return [
    ['three letters of a name', letters('name'), fast],
    ['three letters of an address', letters('email'), fast],
    ['three characters of a name', fragment('name', 3), fast],
    ['three letters of a last name', () => search(part(lastName().padEnd(3, 'a'), 3)), fast],
    ['three characters of an address', fragment('email', 3), fast],
    ['three digits of a number', fragment('phone', 3), fast],
    ['three characters of a username', fragment('username', 3), fast],
    ['three random letters', () => search(String.fromCharCode(...[0, 0, 0].map(() => 97 + Math.random() * 26))), fast],
    ['four characters of an address', fragment('email', 4), fast],
    ['six characters of an address', fragment('email', 6), fast],
    ['seven digits of a number', fragment('phone', 7), fast],
    ['first and last name', () => search(having('name').name), fast],
    ['the id of a user', () => search(any(people).id), exact],
    ['the id of a device', () => search(any(people).device), exact],
    ['a full mail address', () => search(having('email').email), exact],
    ['three letters, and deactivated', () => search(part(lastName().padEnd(3, 'a'), 3), 'status:deactivated'), bounded],
    [
      'three letters, locked, without a factor',
      () => search(part(lastName().padEnd(3, 'a'), 3), 'locked:true,factor:none'),
      bounded,
    ],
    [
      'six letters, no login for 800 days',
      () => search(part(having('email').email, 6), 'last_login_at:lt:2020-01-01T00:00:00Z'),
      bounded,
    ],
    ['with a role', () => 'filter=role:support', bounded],
    ['with a passkey (no user has one)', () => 'filter=factor:passkey', bounded],
  ];
}

async function measure(title, [p50, p99], next, ask) {
  const times = [];
  let [found, capped, partial] = [0, 0, 0];
  const isSlow = title.includes('no user') || title.includes('no login');
  for (let nth = 0; nth < (isSlow ? 10 : warmUps + samples); nth += 1) {
    const query = next();
    const since = performance.now();
    const { data, page } = await ask(query);
    const time = performance.now() - since;
    if (!isSlow && nth < warmUps) continue;
    times.push(time);
    found += data.length > 0 ? 1 : 0;
    capped += page.total_is_exact ? 0 : 1;
    partial += page.partial === undefined ? 0 : 1;
  }
  const result = summarise(times, 1);
  const isMet = (p50 === undefined || result.p50 < p50) && result.p99 < p99;
  const limits = `${p50 === undefined ? '' : `p50 < ${p50}, `}p99 < ${p99}`;
  const share = (count) => `${Math.round((100 * count) / times.length)} %`;
  return [
    title,
    shown(result.p50),
    shown(result.p99),
    shown(times.at(-1)),
    `${limits}: ${isMet ? 'met' : 'MISSED'}`,
    share(found),
    share(capped),
    share(partial),
  ];
}

async function get({ url, adminKey }, query) {
  const response = await fetch(`${url}/admin/v1/users/page?${query}`, {
    headers: { authorization: `Bearer ${adminKey}` },
  });
  if (!response.ok) throw new Error(`${query}: ${response.status} ${await response.text()}`);
  return response.json();
}
