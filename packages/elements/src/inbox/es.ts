import type { InboxTexts } from './texts.js';

/** The Spanish texts of `<postern-inbox>`. */
export const spanish: InboxTexts = {
  inbox: 'Notificaciones',
  unread: '{count} sin leer',
  unread_more: 'más de {count} sin leer',
  new: 'Nueva',
  mark_all_read: 'Marcar todo como leído',
  empty: 'Aún no hay notificaciones',
  empty_hint: 'Aquí aparecen las notificaciones sobre tu cuenta.',
  load_more: 'Mostrar más',
  loading: 'Cargando…',
  connection_lost: 'Sin conexión. Las notificaciones nuevas aparecerán cuando vuelva.',
  signed_out: 'Inicia sesión para ver tus notificaciones.',
  not_loaded: 'No se pudieron cargar las notificaciones.',
  try_again: 'Reintentar',
  push_settings: 'Avisos en tus dispositivos',
  push_failed: 'No se guardó el cambio. Comprueba tu conexión y vuelve a intentarlo.',
  back: 'Volver',
  push_hint: 'Si desactivas un tipo, sus notificaciones aparecen aquí, pero tus dispositivos no las muestran.',
  push_none: 'Aún no hay tipos de notificaciones. Cada tipo aparece aquí después de la primera.',
  push_other: 'También desactivado',
  push_not_loaded: 'No se pudieron cargar los ajustes.',
  push_on_again: 'Activar',
};
