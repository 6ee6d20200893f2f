import type { UserToImport } from '../../contract/user-import.js';

/** The members that a column can be. A flag of a user is no column. */
type Member = Exclude<keyof UserToImport, 'must_change'>;

/**
 * For each member of a user to import, the headings of its column: without accents, spaces and signs, in the languages
 * that exports are often in.
 */
const headingsOf: Readonly<Record<Member, string>> = {
  username: 'username,login,loginname,user,usuario,nombredeusuario,nickname,handle,benutzername,nomdutilisateur',
  email: 'email,emailaddress,mail,mailaddress,correo,correoelectronico,courriel,emailadresse,primaryemail',
  phone: 'phone,phonenumber,mobile,mobilephone,cell,cellphone,tel,telephone,telefono,movil,celular,telefon,handy',
  email_verified: 'emailverified,emailconfirmed,emailisverified,isemailverified,correoverificado',
  phone_verified: 'phoneverified,phoneconfirmed,phoneisverified,phonenumberverified,isphoneverified,telefonoverificado',
  external_id: 'externalid,customerid,customernumber,clientid,idcliente,nodecliente,numerodecliente,kundennummer',
  name: 'name,fullname,displayname,nombre,nombrecompleto,nombres,firstname,lastname,givenname,familyname,surname,apellido,apellidos,vorname,nachname,prenom,nom',
  locale: 'locale,language,lang,idioma,sprache,langue',
  id: 'id,userid,uuid',
  created_at: 'createdat,created,createdon,creado,creadoel,fechadealta,datejoined,registered,registeredat,createdtime',
  role: 'role,rol,rolle',
  password_hash: 'passwordhash,hash,pwhash,hashedpassword,encryptedpassword,passworddigest',
  password: 'password,contrasena,clave,passwort,motdepasse',
  pin: 'pin',
  metadata: 'metadata,usermetadata,appmetadata',
  roles: 'roles,approles,userroles,grupos,groups,rollen',
  claims: 'claims,customclaims,customattributes',
  preferences: 'preferences,notificationpreferences,preferencias',
};

/**
 * The target of a column of a CSV file: a member of the user, a member of the metadata with the heading as its name
 * (`member`), or none.
 */
export type Target = Member | 'member' | 'none';

/** All targets, in the order in which operators choose. */
export const targets: readonly Target[] = ['none', ...(Object.keys(headingsOf) as Member[]), 'member'];

/** Several columns can have these targets: the parts of a name are joined. */
const repeatable: readonly Target[] = ['none', 'name', 'member'];

/** Values that the console does not show. */
export const secretTargets: readonly Target[] = ['password_hash', 'password', 'pin'];

const knownHeadings: Readonly<Record<string, Target>> = Object.fromEntries(
  Object.entries(headingsOf).flatMap(([target, names]) => names.split(',').map((name) => [name, target as Target])),
);

const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;
const address = /^[^@\s]+@[^@\s]+$/;
const number = /^'?\+?\d[\d\s().-]{6,}$/;
/**
 * The beginnings of hashes that the service takes: crypt, PHC and Django's strings, SSHA of LDAP, version 3 of ASP.NET Core
 * Identity, and a credential of Keycloak as JSON.
 */
const hash =
  /^(?:\$\w|argon2\$|bcrypt\$|pbkdf2_|\{[Ss][Ss][Hh][Aa](?:256|384|512)?\}|AQAAAA[A-Za-z0-9+/]{40}|\{.*"credentialData")/;

/** The target of a column, by its heading and its values. */
function guessTarget(heading: string, values: readonly string[]): Target {
  const normalizedHeading = heading
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase();
  const presentValues = values.filter((value) => value !== '');
  const allMatch = (pattern: RegExp) => presentValues.length > 0 && presentValues.every((value) => pattern.test(value));
  const targetByHeading = knownHeadings[normalizedHeading];
  // Postern's ids are UUIDs, so an id of another kind is an external id.
  if (targetByHeading === 'id') return allMatch(uuid) ? 'id' : 'external_id';
  if (targetByHeading === 'password') return allMatch(hash) ? 'password_hash' : 'password';
  if (targetByHeading === 'username' && allMatch(address)) return 'email';
  if (targetByHeading !== undefined) return targetByHeading;
  if (allMatch(hash)) return 'password_hash';
  if (allMatch(address)) return 'email';
  return heading === '' && allMatch(number) ? 'phone' : 'none';
}

/**
 * @param headings empty texts for a file without headings
 * @param sample the first records
 */
export function guessColumns(headings: readonly string[], sample: readonly (readonly string[])[]): Target[] {
  const usedTargets = new Set<Target>();
  return headings.map((heading, column) => {
    const target = guessTarget(
      heading,
      sample.map((cells) => cells[column] ?? ''),
    );
    if (repeatable.includes(target)) return target;
    if (usedTargets.has(target)) return 'none';
    usedTargets.add(target);
    return target;
  });
}

/** Whether a first record is a line of headings: no cell of it looks like a value. */
export function looksLikeHeadings(cells: readonly string[]): boolean {
  return !cells.some((cell) => address.test(cell) || number.test(cell) || uuid.test(cell) || hash.test(cell));
}

/** Gives a column another target. The column that had this target gets none. */
export function assignTarget(columns: readonly Target[], index: number, target: Target): Target[] {
  return columns.map((current, column) => {
    if (column === index) return target;
    return current === target && !repeatable.includes(target) ? 'none' : current;
  });
}

/** The user of one record, as a line of the API. Empty cells are absent. */
export function userOf(
  cells: readonly string[],
  columns: readonly Target[],
  headings: readonly string[],
): Record<string, unknown> {
  const user: Record<string, unknown> = {};
  const members: [string, string][] = [];
  for (const [index, target] of columns.entries()) {
    const cell = cells[index] ?? '';
    if (target === 'none' || cell.trim() === '') continue;
    if (target === 'member') members.push([headings[index] || String(index + 1), cell.trim()]);
    else if (target === 'name')
      user.name = user.name === undefined ? withoutApostrophe(cell) : `${user.name} ${withoutApostrophe(cell)}`;
    else user[target] = memberOf(target, cell);
  }
  if (members.length === 0) return user;
  const wholeMetadata = user.metadata ?? {};
  // A metadata cell that is no object stays as it is, and is refused with its reason.
  return typeof wholeMetadata === 'object'
    ? { ...user, metadata: { ...wholeMetadata, ...Object.fromEntries(members) } }
    : user;
}

/** Removes the apostrophes that keep spreadsheets from reading a formula, as in `'+34612345678` (see `csvLine`). */
const withoutApostrophe = (cell: string) => cell.trim().replace(/(^|[;\t\r\n] *"?)'(?=[=+\-@])/g, '$1');

function memberOf(target: Target, cell: string): unknown {
  switch (target) {
    // Spaces can belong to a password.
    case 'password':
      return cell;
    // Django writes the name of the library before the hash.
    case 'password_hash':
      return cell.trim().replace(/^(?:argon2(?=\$argon2)|bcrypt\$(?=\$2))/, '');
    case 'locale':
      return withoutApostrophe(cell).replace('_', '-');
    case 'email_verified':
    case 'phone_verified':
      return yesOrNo(withoutApostrophe(cell));
    case 'role':
      return withoutApostrophe(cell).toLowerCase();
    case 'created_at':
      return timeOf(withoutApostrophe(cell));
    case 'roles':
      return rolesOf(withoutApostrophe(cell));
    case 'metadata':
    case 'claims':
    case 'preferences':
      return parseJson(cell);
    default:
      return withoutApostrophe(cell);
  }
}

/** The roles of a cell: a JSON array, or names with a separator. Other JSON stays, and is refused. */
function rolesOf(text: string): unknown {
  if (/^[[{]/.test(text)) return parseJson(text);
  return [...new Set(text.split(/[\s,;|]+/).filter((role) => role !== ''))];
}

/** A boolean, as exports of other systems write it. Other texts stay, and are refused. */
function yesOrNo(text: string): boolean | string {
  if (/^(?:true|t|yes|y|1|sí|si)$/i.test(text)) return true;
  return /^(?:false|f|no|n|0)$/i.test(text) ? false : text;
}

/** A time of RFC 3339 from a day or a time. Without a zone, it is read as UTC. Other texts stay, and are refused. */
function timeOf(text: string): string {
  const [, day, time, zone] = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?(.*)$/.exec(text) ?? [];
  if (day === undefined) return text;
  const clock = time === undefined ? '00:00:00' : time.length === 5 ? `${time}:00` : time;
  const offset = zone?.trim() ?? '';
  return `${day}T${clock}${offset === '' || offset === 'UTC' ? 'Z' : offset}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
