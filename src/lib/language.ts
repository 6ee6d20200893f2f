import { type Language, languages, type Text } from '../contract/errors/text.js';

const [fallback] = languages;

/** The supported language that an Accept-Language header prefers (RFC 9110, section 12.5.4). */
export function preferredLanguage(header: string | undefined): Language {
  if (header === undefined || header.length > 1000) return fallback;
  let best: Language = fallback;
  let bestWeight = 0;
  for (const entry of header.split(',')) {
    const [range = '', ...parameters] = entry.split(';').map((part) => part.trim());
    const tag = range.toLowerCase();
    const language =
      tag === '*' ? fallback : languages.find((candidate) => tag === candidate || tag.startsWith(`${candidate}-`));
    const weight = quality(parameters);
    if (language !== undefined && weight > bestWeight) {
      best = language;
      bestWeight = weight;
    }
  }
  return best;
}

function quality(parameters: readonly string[]): number {
  const weightParameter = parameters.find((parameter) => parameter.startsWith('q='));
  if (weightParameter === undefined) return 1;
  const weight = Number(weightParameter.slice(2));
  return weight >= 0 && weight <= 1 ? weight : 0;
}

/** A text in a language with its `{placeholders}` filled. Omits `[parts]` with a placeholder that has no value. */
export function formatText(
  text: Text,
  language: Language,
  params: Readonly<Record<string, string | number>> = {},
): string {
  const hasValue = (placeholder: string) => Object.hasOwn(params, placeholder.slice(1, -1));
  return text[language]
    .replaceAll(/\[([^\]]*)\]/g, (_, part: string) => (part.match(/\{\w+\}/g)?.every(hasValue) ? part : ''))
    .replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => String(params[name] ?? placeholder));
}
