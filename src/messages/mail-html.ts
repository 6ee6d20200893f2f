import { escapeHtml } from '../lib/html.js';

/** How mails show the service. */
export interface MailBrand {
  /** APP_NAME. */
  readonly name: string;
  /** APP_COLOR: `#rrggbb`. */
  readonly color: string;
  /** A PNG of at most 400 × 96 pixels, which mails show at half of its size. */
  readonly logo: { readonly png: Buffer; readonly width: number; readonly height: number } | undefined;
}

/** A part of a mail's template. Empty lines separate parts. */
export type MailPart =
  | { readonly type: 'paragraph'; readonly text: string }
  /** An indented line: a code, a time or an address, on a line of its own. */
  | { readonly type: 'value'; readonly text: string }
  /** Lines of the form `Name: value`. */
  | { readonly type: 'facts'; readonly facts: readonly { readonly name: string; readonly text: string }[] };

const fact = /^([^:\n]{1,40}): (.+)$/;

/** Splits the template, not the filled text: a value cannot add a part to a mail. */
export function mailParts(template: string): MailPart[] {
  return template
    .split(/\n[ \t]*\n/)
    .filter((part) => part.trim() !== '')
    .map((part) => {
      if (/^(?: {4}|\t)[^\n]*$/.test(part)) return { type: 'value', text: part.trim() };
      const facts = part.split('\n').map((line) => fact.exec(line));
      if (facts.length < 2 || facts.includes(null)) return { type: 'paragraph', text: part };
      return { type: 'facts', facts: facts.map((match) => ({ name: match?.[1] ?? '', text: match?.[2] ?? '' })) };
    });
}

/** The content id of the logo. */
export const logoId = 'logo@postern';

const font = "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const ink = '#18181b';
const grey = '#52525b';

/**
 * The mail as HTML. It is readable in programs that show no images, remove the `style` element (its rules are for dark mode
 * only), or have no CSS but attributes.
 * @param mail.language the language of the text, BCP 47
 * @param mail.fill replaces the placeholders of a text by their values
 */
export function mailHtml(
  brand: MailBrand,
  mail: {
    readonly subject: string;
    readonly parts: readonly MailPart[];
    readonly language: string;
    readonly fill: (text: string) => string;
  },
): string {
  const show = (text: string) => escapeHtml(mail.fill(text));
  const rows = mail.parts.map((part) => htmlOf(part, show)).join('\n');
  return `<!doctype html>
<html lang="${escapeHtml(mail.language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(mail.subject)}</title>
<style>
@media (prefers-color-scheme: dark) {
  .page { background: #18181b !important }
  .card { background: #27272a !important; border-right-color: #3f3f46 !important; border-bottom-color: #3f3f46 !important; border-left-color: #3f3f46 !important }
  .text { color: #f4f4f5 !important }
  .name { color: #d4d4d8 !important }
  .value { background: #3f3f46 !important; color: #ffffff !important }
}
</style>
</head>
<body class="page" style="margin:0;padding:0;background:#f4f4f5">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" bgcolor="#f4f4f5" class="page" style="background:#f4f4f5">
<tr><td align="center" style="padding:32px 16px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" bgcolor="#ffffff" class="card" style="max-width:520px;background:#ffffff;border:1px solid #e4e4e7;border-top:4px solid ${brand.color};border-radius:8px">
<tr><td class="text" style="padding:28px 32px 4px;${font};font-size:18px;font-weight:600;color:${ink}">${header(brand)}</td></tr>
${rows}
<tr><td style="padding:0 0 20px;font-size:0;line-height:0">&nbsp;</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`;
}

/** The text beside the image is what programs without images show. */
function header({ name, logo }: MailBrand): string {
  if (logo === undefined) return escapeHtml(name);
  const [width, height] = [Math.ceil(logo.width / 2), Math.ceil(logo.height / 2)];
  return `<img src="cid:${logoId}" alt="${escapeHtml(name)}" width="${width}" height="${height}" style="display:block;border:0">`;
}

function htmlOf(part: MailPart, show: (text: string) => string): string {
  switch (part.type) {
    case 'value':
      return valueRow(show(part.text));
    case 'facts':
      return row(
        `<table role="presentation" cellpadding="4" cellspacing="0" border="0">${part.facts.map(factRow(show)).join('\n')}</table>`,
      );
    case 'paragraph':
      return row(show(part.text).replaceAll('\n', '<br>'));
  }
}

/**
 * A name and its value. A list of mails shows the text without cells, and some programs remove all CSS: the colon, the line between the
 * cells and the padding of the table keep both apart.
 */
const factRow =
  (show: (text: string) => string) =>
  ({ name, text }: { readonly name: string; readonly text: string }) =>
    `<tr><td class="name" valign="top" style="padding:2px 16px 2px 0;${font};font-size:15px;line-height:22px;color:${grey}">${show(name)}:</td>
<td class="text" valign="top" style="padding:2px 0;${font};font-size:15px;line-height:22px;color:${ink};word-break:break-word">${show(text)}</td></tr>`;

const row = (content: string) =>
  `<tr><td class="text" style="padding:12px 32px 4px;${font};font-size:16px;line-height:24px;color:${ink}">${content}</td></tr>`;

/** Codes are large, because people read them from one screen and type them on another. */
function valueRow(value: string): string {
  const isCode = /^[\dA-Za-z-]{4,24}$/.test(value);
  const size = isCode ? 'font-size:28px;line-height:36px;letter-spacing:4px' : 'font-size:16px;line-height:24px';
  const text = /^https?:\/\/[^\s"<>]+$/.test(value)
    ? `<a href="${value}" class="text" style="color:${ink};text-decoration:underline;word-break:break-all">${value}</a>`
    : value;
  return `<tr><td style="padding:12px 32px 4px"><table role="presentation" cellpadding="0" cellspacing="0" border="0" width="100%"><tr><td bgcolor="#f4f4f5" class="value" style="padding:12px 20px;background:#f4f4f5;border-radius:6px;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;${size};font-weight:600;color:${ink}">${text}</td></tr></table></td></tr>`;
}
