import type { Texts } from '../texts.js';

export const check: Texts['check'] = {
  title: 'Comprobar un inicio de sesión',
  identity: 'Lo que el usuario escribe para iniciar sesión',
  identityHint: 'Correo, teléfono o usuario, tal como lo escribe el usuario.',
  type: 'Tipo de identidad',
  device: 'Id del dispositivo (opcional)',
  deviceHint: 'Si está vacío, se supone un dispositivo nuevo.',
  address: 'Dirección de red (opcional)',
  addressHint: 'Añade los límites de esta dirección IP.',
  ask: 'Comprobar',
  notRead: 'No se pudo comprobar el inicio de sesión.',
  nobody: (value) =>
    `Ningún usuario tiene «${value}». Un inicio de sesión así recibe la misma respuesta que una contraseña incorrecta, para no revelar nada a atacantes.`,
  open: (name) => `Abrir ${name}`,
  why: (value) => `¿Por qué «${value}» no puede iniciar sesión?`,
};
