import type { Texts } from '../texts.js';
import { count } from './counts.js';

export const suppressions: Texts['suppressions'] = {
  title: 'Direcciones suprimidas',
  navigation: 'Supresiones',
  failed: 'No se pudieron leer las supresiones.',
  about:
    'Estas direcciones de correo no reciben nada salvo códigos. Postern no guarda las direcciones, así que la lista no las puede mostrar.',
  findLabel: 'Dirección de correo',
  findAction: 'Buscar',
  notFound: (email) => `${email} no está suprimida.`,
  found: (email, reason) => `${email} está suprimida: ${reason}.`,
  notSearched: 'No se pudo buscar la dirección.',
  reason: 'Motivo',
  reasons: {
    hard_bounce: 'el buzón no existe',
    complaint: 'su dueño marcó un correo como spam',
    soft_bounces: 'cinco correos no llegaron en 14 días',
    manual: 'la añadió un operador',
  },
  created: 'Desde',
  add: 'Suprimir una dirección…',
  addTitle: 'Suprimir una dirección',
  addAction: 'Suprimir la dirección',
  addHint: 'Por ejemplo, su dueño no quiere más correos. Los códigos se siguen enviando.',
  added: (email) => `${email} está suprimida.`,
  notAdded: 'No se suprimió la dirección.',
  remove: 'Eliminar…',
  removeTitle: '¿Eliminar esta supresión?',
  removeWhat:
    'La dirección vuelve a recibir correo. Otro rebote u otra queja la suprime de nuevo y daña la reputación de tus correos.',
  removeAction: 'Eliminar la supresión',
  removed: 'La dirección vuelve a recibir correo.',
  notRemoved: 'No se eliminó la supresión.',
  none: 'No hay direcciones suprimidas',
  noneWhy:
    'Postern suprime una dirección si su buzón no existe, si su dueño se queja o si los correos no llegan durante días.',
  noMatch: 'Ninguna supresión coincide',
  total: (n) => count(n, 'supresión', 'supresiones'),
};
