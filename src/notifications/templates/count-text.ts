import { type Language, text } from '../../contract/errors/text.js';

const texts = text('{count} new notifications', '{count} notificaciones nuevas');

/** The text of a push or a mail that summarizes several notifications. */
export const countText = (count: number, language: Language): string =>
  texts[language].replace('{count}', String(count));
