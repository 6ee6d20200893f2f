import type { Texts } from '../en/index.js';

export const userDialogs: Texts['userDialogs'] = {
  save: 'Guardar',
  saved: 'Guardado.',
  show: 'Mostrar',
  generate: 'Generar',
  notJson: 'Debe ser un objeto JSON.',
  changedByOthers: (now) =>
    now === ''
      ? 'Alguien lo quitó mientras tanto. Guarde otra vez para poner el valor que ha escrito.'
      : `Alguien lo cambió a «${now}» mientras tanto. Guarde otra vez para sustituir ese cambio.`,
  until: 'Hasta',
  untilTime: 'Hasta una hora…',
  yourTime: 'En su zona horaria.',
  lockInstead: 'Si el usuario no debe entrar solo durante un tiempo, bloquéelo.',
  edit: 'Editar…',
  editAddresses: 'Direcciones…',
  set: 'Poner…',
  change: 'Cambiar…',
  remove: 'Quitar…',
  cancel: 'Cancelar…',
  of: (verb, what) => `${verb} ${what}`,
  profile: {
    title: (name) => `Editar a ${name}`,
    name: 'Nombre',
    externalIdHint:
      'El id de este usuario en sus sistemas. Los usuarios no inician sesión con él. La API lo acepta como external:…',
    localeHint: 'Una etiqueta de idioma, por ejemplo «en» o «es-MX». Si está vacía, se usa el idioma del cliente.',
    metadataHint: 'Un objeto JSON con sus propios datos sobre el usuario.',
  },
  addresses: {
    title: (name) => `Direcciones de ${name}`,
    what: 'El usuario inicia sesión con estos datos. Postern envía los códigos al correo y al teléfono. Para quitar un valor, vacíe su campo.',
    phoneHint: 'Con el prefijo del país, por ejemplo +34 912 345 678',
    removes: (names) => `Se quita: ${names.join(', ')}. Después, el usuario ya no podrá iniciar sesión con ello.`,
  },
  password: {
    title: (name) => `Poner la contraseña de ${name}`,
    what: 'Terminan todos los inicios de sesión y las sesiones del usuario. Dígale usted la contraseña nueva: Postern no la envía. Vale para un solo acceso, en el que el usuario elige otra.',
    label: 'Contraseña nueva',
    done: 'La contraseña está puesta. Terminaron todos los inicios de sesión del usuario.',
  },
  noPassword: {
    title: (name) => `¿Quitar la contraseña de ${name}?`,
    what: 'El usuario no puede iniciar sesión con contraseña hasta que alguien ponga una nueva. Terminan todos sus inicios de sesión y sus sesiones.',
    action: 'Quitar',
    done: 'Se quitó la contraseña.',
  },
  pin: {
    title: (name) => `Poner el PIN de ${name}`,
    what: 'El PIN anterior deja de funcionar. Los inicios de sesión existentes siguen.',
    label: 'PIN nuevo',
    hint: 'De 4 a 12 dígitos.',
    done: 'El PIN está puesto.',
  },
  noPin: {
    title: (name) => `¿Quitar el PIN de ${name}?`,
    what: 'Los inicios de sesión nuevos de este usuario ya no comprueban ningún PIN. Los inicios de sesión existentes siguen.',
    action: 'Quitar',
    done: 'Se quitó el PIN.',
  },
  pinRecovery: {
    title: (name) => `¿Cancelar el PIN nuevo de ${name}?`,
    what: 'Alguien usó un código de esta cuenta para elegir un PIN nuevo. Postern descarta el PIN nuevo, y el PIN actual sigue siendo válido.',
    action: 'Cancelar el PIN nuevo',
    done: 'El PIN nuevo está cancelado.',
  },
  noFactors: {
    title: (name) => `¿Quitar los segundos factores de ${name}?`,
    what: 'Se quitan la app de autenticación, todas las passkeys y los códigos de recuperación. Los inicios de sesión existentes siguen.',
    action: 'Quitar',
    done: 'Se quitaron los segundos factores.',
  },
  policy: {
    title: (name) => `Segundo factor de ${name}`,
    label: 'Los inicios de sesión piden un segundo factor',
    values: {
      byDefault: 'Según los ajustes de Postern',
      off: 'Nunca',
      own: 'Si el usuario tiene una app de autenticación',
      required: 'Si el usuario tiene una app o una passkey',
    },
  },
  link: {
    title: (name) => `Vincular una cuenta a ${name}`,
    what: 'Después, el usuario también puede iniciar sesión con esta cuenta.',
    provider: 'Proveedor',
    subject: 'Id de la cuenta',
    subjectHint: 'El id de la cuenta en el proveedor: «sub» en los tokens del proveedor.',
    action: 'Vincular',
    done: (provider) => `La cuenta en ${provider} está vinculada.`,
  },
  unlink: {
    title: (provider, name) => `¿Desvincular de ${name} la cuenta en ${provider}?`,
    what: 'El usuario ya no podrá iniciar sesión con ella. Los inicios de sesión existentes siguen. Para terminarlos, cierre todas las sesiones del usuario.',
    action: 'Desvincular',
    done: (provider) => `La cuenta en ${provider} está desvinculada.`,
  },
  role: {
    open: 'Cambiar el rol…',
    title: (name) => `Rol de ${name}`,
    rights: {
      user: 'No tiene permisos en la consola.',
      support: 'Puede buscar, bloquear y cambiar usuarios sin rol, y publicar notificaciones.',
      operator: 'Puede hacer todo, incluidos los roles, las claves, la auditoría y el sistema.',
    },
    needsLink:
      'El rol tiene efecto después de que el usuario abra el enlace que usted creará a continuación, y registre o confirme un segundo factor.',
    done: (name, role) => `El rol de ${name} es ahora ${role}.`,
  },
  activation: {
    open: 'Enlace de activación…',
    title: (name) => `Enlace de activación para ${name}`,
    what: 'El usuario abre el enlace, inicia sesión y registra o confirma un segundo factor. Después, el rol tiene efecto. Un enlace nuevo sustituye al anterior.',
    action: 'Crear el enlace',
    link: 'El enlace (solo se muestra una vez)',
    until: (time) => `Válido hasta ${time}, y solo para este usuario.`,
    done: 'He copiado el enlace',
  },
  accounts: {
    title: 'Cuentas en proveedores',
    none: 'No hay ninguna cuenta vinculada.',
    link: 'Vincular…',
    unlink: 'Desvincular…',
    since: (time) => `vinculada ${time}`,
  },
  factor: {
    notSet: 'sin poner',
    second: 'Segundo factor',
    pinChanges: (time) => `un PIN nuevo tiene efecto ${time}`,
  },
};
