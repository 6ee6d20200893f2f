import { qrCode } from './qr.js';

const svg = 'http://www.w3.org/2000/svg';

/**
 * A QR code: black on white in every theme, because many apps cannot read other colours. Null if the text is too long:
 * the user can type the key.
 */
export function picture(text: string, label: string): SVGElement | null {
  const rows = qrCode(text);
  if (rows === null) return null;
  const margin = 4;
  const size = rows.length + 2 * margin;
  const squares = rows.flatMap((cells, y) =>
    cells.flatMap((dark, x) => (dark ? [`M${x + margin} ${y + margin}h1v1h-1z`] : [])),
  );
  const image = document.createElementNS(svg, 'svg');
  const path = document.createElementNS(svg, 'path');
  path.setAttribute('d', squares.join(''));
  image.append(path);
  const attributes = { viewBox: `0 0 ${size} ${size}`, class: 'qr', part: 'qr', role: 'img', 'aria-label': label };
  for (const [name, value] of Object.entries(attributes)) image.setAttribute(name, value);
  return image;
}
