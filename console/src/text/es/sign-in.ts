import type { Texts } from '../en/index.js';

export const signIn: Texts['signIn'] = {
  title: 'Iniciar sesión',
  only: 'Solo operadores y agentes de soporte pueden entrar aquí.',
  identity: 'Correo, nombre de usuario o teléfono',
  password: 'Contraseña',
  show: 'Mostrar la contraseña',
  havePin: 'Tengo un PIN',
  pin: 'PIN',
  submit: 'Iniciar sesión',
  usePasskey: 'Usar una passkey',
  useCode: 'Usar el código de su aplicación',
  useRecovery: 'Usar un código de recuperación',
  startAgain: 'Empezar de nuevo',
  codeTitle: 'Escriba su código',
  codeFor: 'De su aplicación de autenticación, para',
  code: 'Código de 6 dígitos',
  codeWrong: 'Ese código es incorrecto o ya lo ha usado. Espere al siguiente.',
  recoveryTitle: 'Escriba un código de recuperación',
  recoveryFor: 'Cada código sirve una vez. Para',
  recovery: 'Código de recuperación',
  recoveryWrong: 'Ese código es incorrecto o ya se usó.',
  passkeyTitle: 'Use su passkey',
  passkeyFor: 'El navegador se la pide, para',
  passkeyFailed: 'La passkey no funcionó. Pruebe otra vez, o entre de otra forma.',
  passkeyUnsupported: 'Este navegador no admite passkeys.',
  refused:
    'No se pudo iniciar sesión. Revise lo que escribió. Tras varios intentos fallidos, la cuenta se bloquea durante un tiempo.',
  noCookies:
    'Su navegador rechaza las cookies de este sitio, así que tendrá que iniciar sesión de nuevo tras cada recarga y al final de cada sesión. Permita las cookies y recargue la página.',
  lapsed: 'El inicio de sesión tardó demasiado o tuvo demasiados intentos fallidos. Empiece de nuevo.',
  noSecondFactor:
    'Entró sin segundo factor, y su rol lo necesita: pida a un operador un enlace para configurarlo, o ejecute',
  noRole: 'Esta cuenta no es de un operador ni de un agente de soporte. Entre con otra cuenta.',
  roleInactive: 'Su rol aún no está activo. Abra el enlace que recibió, o pida uno nuevo a un operador.',
  lostPhone: '¿Perdió el teléfono? Otro operador puede quitar su segundo factor, o ejecute',
  onServer: 'en el servidor.',
};
