// The search for users at 10 million: `node bench/search.mjs`. It needs 25 GB of disk and half an hour.
// `node bench/search.mjs FOLDER [USERS]` keeps the database in FOLDER, for a further run.
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fill, inBulk } from './generate.mjs';
import { openPostgres } from './service.mjs';

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
    case when h % 100 < 85 then first || '.' || last || n % 100000 || '@' || bench.pick(${array(domains)}, 'd', n) end as email,
    case when h % 10 between 3 and 8 then '+1' || (2000000000 + h % 7999999999)::text end as phone) i`;
const fills = (users) => ({
  users: `select bench.id('user', n), username, email,
      coalesce(phone, case when username is null and email is null then '+49' || (15000000000 + n)::text end), initcap(first || ' ' || last), null,
      case when h % 500 = 0 then 'deactivated' else 'active' end, case when n % 1000000 = 7 then 'support' else 'user' end,
      case when h % 2000 = 1 then 'permanent' end, null, null, 0, null, null, '{}', at, at
    from generate_series(1, ${users}) n, ${person},
      lateral (select now() - interval '3000 days' + n * (interval '3000 days' / ${users}) as at) t`,
  identities: `select sha256(('email' || e'\\n' || email)::bytea), bench.id('user', n), 'email', email
    from generate_series(1, ${users}) n, ${person} where email is not null`,
  devices: `select bench.id('user', n), bench.id('device', n), 'Acme', 'Phone', 'Os', '1.0', null, null,
      'token' || n, null, null, now(), now(), now() - (n % 900) * interval '1 day'
    from generate_series(1, ${users}) n`,
});
const [given, count = '10000000'] = process.argv.slice(2);
const folder = given === undefined ? await mkdtemp(join(tmpdir(), 'postern-search-')) : resolve(given);
const users = Number(count);
const say = (line) => console.error(`${new Date().toISOString().slice(11, 19)} ${line}`);
const isNew = !existsSync(join(folder, 'postgres'));
await mkdir(folder, { recursive: true });
const postgres = await openPostgres(folder);
try {
  const pool = postgres.pool();
  if (isNew) {
    await postgres.migrate();
    await pool.query(helpers);
    await inBulk(pool, async () => {
      for (const [table, select] of Object.entries(fills(users))) await fill(pool, table, select, say);
    });
  }
} finally {
  await postgres.close();
  if (given === undefined) await rm(folder, { recursive: true, force: true });
}
