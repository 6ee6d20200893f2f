import { type Language, text } from '../../contract/errors/text.js';

const texts = text('{count} new notifications', '{count} notificaciones nuevas');

/** What a push or a mail says that stands for several notifications. */
export const countText = (count: number, language: Language): string =>
  texts[language].replace('{count}', String(count));
