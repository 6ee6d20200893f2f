import type { Texts } from '../en/index.js';

export const overview: Texts['overview'] = {
  title: 'Resumen',
  warnings: 'Avisos',
  allWell: 'Nada le necesita ahora.',
  checked: 'Comprobado',
  failedMessages: (n, capped) =>
    capped
      ? `Más de ${n.toLocaleString('es')} mensajes fallaron en las últimas 24 horas.`
      : n === 1
        ? 'Un mensaje falló en las últimas 24 horas.'
        : `${n.toLocaleString('es')} mensajes fallaron en las últimas 24 horas.`,
  lastFailure: (kind, reason) => `El último: ${kind}, ${reason}.`,
  now: 'Ahora',
  pause: 'Pausar',
  resume: 'Seguir',
  waitingEvents: (n) => `${n.toLocaleString('es')} más recientes`,
  nothingYet: 'Aún no ha pasado nada',
  nothingYetWhy: 'Los inicios de sesión, rechazos, bloqueos y cambios aparecen aquí cuando ocurren.',
  eventsFailed: 'No se pudieron leer los eventos.',
  messagesFailed: 'No se pudieron leer los mensajes.',
  somebody: 'Alguien',
  deleted: 'Un usuario eliminado',
  postern: 'Postern',
};
