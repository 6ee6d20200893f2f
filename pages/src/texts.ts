const english = {
  to_app: 'To continue to',
  continue_as: 'Continue as {name}?',
  continue: 'Continue',
  continue_unnamed: 'Continue with your account?',
  asks: 'wants to sign you in with your login here. It asks only once.',
  asks_always: 'wants to sign you in with your login here.',
  other_account: 'Use another account',
  cancel: 'Cancel',
  leaving: 'Going back to {app}…',
  open: 'Open {app}',
  failed: 'That did not work. Check your connection, and try again.',
  try_again: 'Try again',
  passkey: 'Sign in faster next time',
  passkey_lead:
    'A passkey signs you in with your face, your fingerprint or the lock of your screen. There is nothing to remember, and nobody can trick you out of it.',
  create_passkey: 'Create a passkey',
  not_now: 'Not now',
  passkey_failed: 'The passkey was not created.',
  apps: 'Apps',
  apps_lead: 'These apps may sign you in with your login here.',
  remove: 'Ask again',
  removed: 'The app asks again next time.',
  since: 'Since {date}',
};

export type Texts = typeof english;

const spanish: Texts = {
  to_app: 'Para continuar en',
  continue_as: '¿Continuar como {name}?',
  continue: 'Continuar',
  continue_unnamed: '¿Continuar con tu cuenta?',
  asks: 'quiere iniciar tu sesión con la que tienes aquí. Solo lo pregunta una vez.',
  asks_always: 'quiere iniciar tu sesión con la que tienes aquí.',
  other_account: 'Usar otra cuenta',
  cancel: 'Cancelar',
  leaving: 'Volviendo a {app}…',
  open: 'Abrir {app}',
  failed: 'No ha funcionado. Comprueba tu conexión e inténtalo de nuevo.',
  try_again: 'Reintentar',
  passkey: 'Inicia sesión más rápido la próxima vez',
  passkey_lead:
    'Una llave de acceso inicia sesión con tu cara, tu huella o el bloqueo de tu pantalla. No hay nada que recordar y nadie puede sonsacártela.',
  create_passkey: 'Crear una llave de acceso',
  not_now: 'Ahora no',
  passkey_failed: 'No se ha creado la llave de acceso.',
  apps: 'Aplicaciones',
  apps_lead: 'Estas aplicaciones pueden iniciar tu sesión con la que tienes aquí.',
  remove: 'Volver a preguntar',
  removed: 'La aplicación preguntará la próxima vez.',
  since: 'Desde el {date}',
};

/** The texts in the language that the service has chosen. */
export const texts: Texts = document.documentElement.lang === 'es' ? spanish : english;

export const fill = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
