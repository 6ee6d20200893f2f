import type { Texts } from '../texts.js';

const formatted = (n: number) => n.toLocaleString('es', { useGrouping: 'always' });
const usersOf = (n: number) => `${formatted(n)} ${n === 1 ? 'usuario' : 'usuarios'}`;

export const imports: Texts['imports'] = {
  title: 'Importar usuarios',
  open: 'Importar',
  file: 'Archivo',
  choose: 'Elegir un archivo',
  orDrop: 'o suéltalo aquí',
  formats:
    'CSV con una línea de encabezados, como lo exportan las hojas de cálculo y otros sistemas, o NDJSON con un usuario en cada línea.',
  nothingYet: 'Postern no crea nada hasta que hayas visto una prueba con el archivo completo.',
  reading: 'Leyendo el archivo…',
  another: 'Otro archivo',
  size: (bytes) => {
    const units = ['bytes', 'kB', 'MB', 'GB'];
    const unit = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
    return `${Number((bytes / 1000 ** unit).toPrecision(3)).toLocaleString('es')} ${units[unit]}`;
  },
  ndjson: 'NDJSON',
  csv: 'CSV',
  encoding: 'Codificación',
  delimiter: 'Separador',
  delimiters: { ',': 'Coma', ';': 'Punto y coma', '\t': 'Tabulador', '|': 'Barra vertical' },
  hasHeadings: 'La primera línea tiene encabezados',
  unreadable: {
    empty: 'El archivo está vacío.',
    workbook:
      'Es un libro de cálculo. Guarda la hoja como CSV (UTF-8) en tu programa de hojas de cálculo y elige ese archivo.',
    binary: 'El archivo no es de texto. Expórtalo como CSV o NDJSON.',
    unreachable: 'No se puede leer el archivo. Quizá se haya movido o haya cambiado: elígelo de nuevo.',
  },
  columns: 'Columnas',
  column: 'Columna',
  columnNumber: (n) => `Columna ${n}`,
  firstValues: 'Primeros valores',
  becomes: 'Se convierte en',
  becomesOf: (column) => `En qué se convierte ${column}`,
  hiddenValue: 'oculto',
  firstLines: 'Primeras líneas',
  moreColumns: (n) => `No se muestran ${formatted(n)} columnas más.`,
  targets: {
    none: 'Omitir',
    username: 'Nombre de usuario',
    email: 'Correo',
    phone: 'Teléfono',
    email_verified: 'Correo comprobado',
    phone_verified: 'Teléfono comprobado',
    external_id: 'Id externo',
    name: 'Nombre',
    locale: 'Idioma',
    id: 'Id del usuario (UUID)',
    created_at: 'Creado',
    role: 'Rol',
    password_hash: 'Hash de contraseña',
    password: 'Contraseña',
    pin: 'PIN',
    metadata: 'Metadatos (objeto JSON)',
    roles: 'Roles en la app',
    claims: 'Claims (objeto JSON)',
    preferences: 'Preferencias de notificaciones',
    member: 'Miembro de los metadatos con el nombre del encabezado',
  },
  needsIdentity: 'Elige qué columna es el nombre de usuario, el correo o el teléfono.',
  nameHint: 'Si varias columnas son el nombre, se unen.',
  hashHint:
    'Los usuarios conservan sus contraseñas: Postern admite argon2, bcrypt, scrypt y PBKDF2. Solo un operador puede importar hashes de un tipo que aún no tiene ningún usuario.',
  passwordHint:
    'Las contraseñas valen para un solo inicio de sesión, en el que el usuario elige otra. Al importar se calcula su hash, lo que tarda alrededor de un segundo por cada cien usuarios. Las líneas con un PIN fallan: solo el usuario lo elige.',
  dryRun: 'Prueba',
  dryRunAbout: 'Comprueba cada línea como lo haría la importación y no crea nada.',
  check: 'Comprobar el archivo',
  checkAgain: 'Comprobar de nuevo',
  checking: (n) => `${usersOf(n)} comprobados`,
  work: 'Importación',
  importing: (n) => `${usersOf(n)} listos`,
  stop: 'Detener',
  goOn: 'Continuar',
  report: 'Informe',
  good: { dryRun: 'se pueden importar', work: 'creados' },
  exists: 'ya existen',
  failed: { dryRun: 'no se pueden importar', work: 'no importados' },
  allGood: (n) => `${n === 1 ? 'Se puede' : 'Se pueden'} importar ${usersOf(n)}. Ninguna línea tiene errores.`,
  someBad: (bad) =>
    `${bad === 1 ? 'Una línea tiene un error' : `${formatted(bad)} líneas tienen errores`}. Corrige el archivo y compruébalo de nuevo, o importa las demás sin ellas.`,
  noneGood: 'Ninguna línea se puede importar.',
  start: (n) => `Importar ${usersOf(n)}`,
  startValid: (n) => `Importar solo ${n === 1 ? 'el usuario' : `los ${usersOf(n)}`} sin errores`,
  existingStay: 'Los usuarios que ya existen no se cambian.',
  imported: (n) => (n === 1 ? 'Se creó un usuario.' : `Se crearon ${usersOf(n)}.`),
  stopped: (line) =>
    `Detenido. Todas las líneas hasta la ${formatted(line)} están hechas y no se envió nada de las siguientes.`,
  interrupted: (line) =>
    line === 0
      ? 'Interrumpido antes de terminar la primera línea.'
      : `Interrumpido. Todas las líneas hasta la ${formatted(line)} están hechas.`,
  unsure: (from, to) =>
    `Se perdió la respuesta de las líneas ${formatted(from)} a ${formatted(to)}: puede que sus usuarios se hayan creado. Si continúas, ningún usuario se crea dos veces. En el informe, los usuarios de estas líneas que ya se crearon tienen el resultado «exists».`,
  fileChanged: 'El archivo ha cambiado o se ha movido desde que lo elegiste. Elígelo de nuevo.',
  toUsers: 'Ver los usuarios',
  rows: 'Líneas que revisar',
  line: 'Línea',
  user: 'Usuario',
  field: 'Campo',
  reason: 'Motivo',
  noName: 'Sin nombre',
  existing: 'Este usuario ya existe.',
  sameAsLine: (line) => `La línea ${formatted(line)} ya tiene el mismo valor.`,
  lineErrors: {
    too_long: 'La línea tiene más de 64 KiB. Quizá falten unas comillas.',
    open_quote: 'Unas comillas no se cierran hasta el final del archivo.',
    too_many_cells: 'La línea tiene más celdas que columnas. Quizá unas comillas o un separador estén mal.',
  },
};
