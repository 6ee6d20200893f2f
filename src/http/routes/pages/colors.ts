/** A colour as the luminances of sRGB need it: red, green and blue from 0 to 255. */
type Rgb = readonly [number, number, number];

/** The colours of a page in one theme, of APP_COLOR. The contrast of text is at least 4.5 to 1 (WCAG 2.2, 1.4.3). */
export interface BrandColors {
  /** Text, and the ground of buttons. */
  readonly accent: string;
  /** Text on `accent`. */
  readonly onAccent: string;
}

const minContrast = 4.5;
/** The grounds of the elements, see `tokens.css` of the console. */
const white: Rgb = [255, 255, 255];
const dark: Rgb = [24, 24, 22];
/** What is mixed in, until the contrast suffices. */
const step = 0.02;

/** The colour for light pages, darker if it has to be, and for dark pages, lighter if it has to be. @param color `#rrggbb` */
export function brandColors(color: string): { readonly light: BrandColors; readonly dark: BrandColors } {
  return {
    light: { accent: textOf(withContrast(parse(color), white, [0, 0, 0])), onAccent: textOf(white) },
    dark: { accent: textOf(withContrast(parse(color), dark, white)), onAccent: textOf(dark) },
  };
}

/** The WCAG contrast of two colours, from 1 to 21. */
export function contrast(one: string, other: string): number {
  return contrastOf(parse(one), parse(other));
}

function withContrast(color: Rgb, ground: Rgb, other: Rgb): Rgb {
  for (let share = 0; share < 1; share += step) {
    const mixed = mix(color, other, share);
    if (contrastOf(mixed, ground) >= minContrast) return mixed;
  }
  return other;
}

const mix = (color: Rgb, other: Rgb, share: number): Rgb =>
  color.map((part, index) => Math.round(part * (1 - share) + (other[index] ?? 0) * share)) as unknown as Rgb;

function contrastOf(one: Rgb, other: Rgb): number {
  const [high = 0, low = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

/** Relative luminance, as WCAG 2.2 defines it. */
function luminance(color: Rgb): number {
  const [red = 0, green = 0, blue = 0] = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const parse = (color: string): Rgb =>
  [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16)) as unknown as Rgb;
const textOf = (color: Rgb): string => `#${color.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
