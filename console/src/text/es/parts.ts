import type { Texts } from '../texts.js';

export const parts: Texts['parts'] = {
  title: 'Componentes y estados',
  about: 'Todos los componentes de la consola, para quienes la cambian.',
  buttons: 'Botones',
  fields: 'Campos',
  states: 'Estados',
  values: 'Ids, horas, números',
  toasts: 'Avisos breves',
  list: 'Una lista',
  without: 'Un panel sin datos',
  plot: 'Gráfico',
  timeline: 'Cronología',
};
