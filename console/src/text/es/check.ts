import type { Texts } from '../en/index.js';

export const check: Texts['check'] = {
  title: 'Comprobar un inicio de sesión',
  identity: 'Lo que escribe para iniciar sesión',
  identityHint: 'Correo, teléfono o usuario, tal como lo escribe.',
  type: 'Es un',
  device: 'Id del dispositivo (opcional)',
  deviceHint: 'Sin él: un dispositivo nuevo.',
  address: 'Dirección de red (opcional)',
  addressHint: 'Añade los límites de esta dirección IP.',
  ask: 'Comprobar',
  notRead: 'No se pudo comprobar el inicio de sesión.',
  nobody: (value) =>
    `Nadie tiene «${value}». El inicio de sesión responde como con una contraseña incorrecta, para no revelar nada a extraños.`,
  open: (name) => `Abrir ${name}`,
  why: (value) => `¿Por qué «${value}» no puede iniciar sesión?`,
};
