import mustache from 'mustache';
import { nearest } from '../../lib/nearest.js';

/** A part of a template. Paths have at least one name, except that of the current item (`{{.}}`), which has none. */
export type TemplateNode =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'value';
      readonly path: Path;
      readonly formatter: Formatter | undefined;
      readonly position: number;
    }
  | {
      readonly kind: 'section';
      readonly path: Path;
      readonly isInverted: boolean;
      readonly children: readonly TemplateNode[];
      readonly position: number;
    };

export type Path = readonly string[];

/** What turns a value into text. */
export type Formatter =
  | { readonly name: 'number'; readonly digits: number | undefined }
  | { readonly name: 'currency'; readonly code: { readonly literal: string } | { readonly path: Path } }
  | { readonly name: 'date'; readonly style: DateStyle }
  | { readonly name: 'plural'; readonly forms: ReadonlyMap<string, string> };

export const dateStyles = ['short', 'medium', 'long', 'full', 'time', 'datetime'] as const;
export type DateStyle = (typeof dateStyles)[number];
const formatterNames = ['number', 'currency', 'date', 'plural'] as const;
/** The plural categories of Unicode. */
const pluralForms = ['zero', 'one', 'two', 'few', 'many', 'other'] as const;

/** What is wrong with a template. `position` counts characters from 1. */
export interface TemplateFault {
  readonly position: number;
  readonly reason: string;
  /** The right word, if a word is unknown. */
  readonly suggestion?: string;
}

type Token = mustache.Token;

/** The most bytes of the source of a template. */
export const maxSourceBytes = 64 * 1024;
/** The most characters of a tag. The parser takes quadratic time for the spaces at the end of one. */
const maxTagLength = 1000;
/** The most sections within each other. */
const maxDepth = 32;
/** The most faults that one template reports. */
export const maxFaults = 20;

const name = '[\\p{L}_][\\p{L}\\p{N}_-]*|\\d{1,9}';
const pathPattern = new RegExp(`^(?:\\.|(?:${name})(?:\\.(?:${name}))*)$`, 'u');
/** The tags that would write values without escaping, read other templates or change the tags. */
const forbidden = /\{\{\s*([{&>=])/g;

/** Creates the parts of a template, or says everything that is wrong with it. The time is linear in the length of the source. */
export function parseTemplate(
  source: string,
): { readonly nodes: readonly TemplateNode[] } | { readonly faults: readonly TemplateFault[] } {
  const faults: TemplateFault[] = [...source.matchAll(forbidden)]
    .slice(0, maxFaults)
    .map(({ 1: tag, index }) => ({ position: index + 1, reason: `{{${tag} is not supported` }));
  if (faults.length > 0) return { faults };
  const long = endlessTag(source);
  if (long !== undefined) return { faults: [long] };
  let tokens: readonly Token[];
  try {
    const writer = new mustache.Writer();
    writer.templateCache = undefined;
    tokens = writer.parse(source);
  } catch (error) {
    return { faults: [faultOf(error)] };
  }
  const nodes = nodesOf(tokens, 1, faults);
  return faults.length > 0 ? { faults: faults.slice(0, maxFaults) } : { nodes };
}

/** The first tag that is not closed, or is too long. */
function endlessTag(source: string): TemplateFault | undefined {
  for (let start = source.indexOf('{{'); start >= 0; ) {
    const end = source.indexOf('}}', start);
    if (end < 0) return { position: start + 1, reason: 'the tag is not closed' };
    if (end - start > maxTagLength) {
      return { position: start + 1, reason: `the tag has more than ${maxTagLength} characters` };
    }
    start = source.indexOf('{{', end + 2);
  }
  return undefined;
}

/** A message of the parser, which ends with a position: `Unclosed section "data" at 12`. */
function faultOf(error: unknown): TemplateFault {
  const [, text, position] = /^(.*) at (\d+)$/s.exec(error instanceof Error ? error.message : '') ?? [];
  if (text === undefined) throw error;
  return { position: Number(position) + 1, reason: `${text.charAt(0).toLowerCase()}${text.slice(1, 200)}` };
}

function nodesOf(tokens: readonly Token[], depth: number, faults: TemplateFault[]): TemplateNode[] {
  return tokens.flatMap(([type, value, start, , children = []]): TemplateNode[] => {
    const position = start + 1;
    if (type === 'text') return [{ kind: 'text', text: value }];
    if (type === 'name') return [valueNode(value, position, faults)].flat();
    if (type !== '#' && type !== '^') return [];
    if (depth > maxDepth) {
      faults.push({ position, reason: `there are more than ${maxDepth} sections within each other` });
      return [];
    }
    const path = readPath(value, position, faults);
    const nodes = nodesOf(children, depth + 1, faults);
    return path ? [{ kind: 'section', path, isInverted: type === '^', children: nodes, position }] : [];
  });
}

function valueNode(text: string, position: number, faults: TemplateFault[]): TemplateNode | [] {
  const bar = text.indexOf('|');
  const path = readPath((bar < 0 ? text : text.slice(0, bar)).trim(), position, faults);
  const formatter = bar < 0 ? undefined : readFormatter(text.slice(bar + 1).trim(), position, faults);
  return path ? { kind: 'value', path, formatter, position } : [];
}

function readPath(text: string, position: number, faults: TemplateFault[]): Path | undefined {
  if (text.length <= 1000 && pathPattern.test(text)) return text === '.' ? [] : text.split('.');
  faults.push({ position, reason: `"${text.slice(0, 60)}" is no path, such as data.total` });
  return undefined;
}

/** A word, or a text in quotes. */
interface Argument {
  readonly text: string;
  readonly isQuoted: boolean;
}

function readFormatter(text: string, position: number, faults: TemplateFault[]): Formatter | undefined {
  const [first, ...args] = argumentsOf(text) ?? [];
  const fail = (reason: string, suggestion?: string) => {
    faults.push({ position, reason, ...(suggestion !== undefined && { suggestion }) });
    return undefined;
  };
  switch (first?.isQuoted === false ? first.text : undefined) {
    case 'number': {
      const [digits, ...more] = args;
      if (digits === undefined) return { name: 'number', digits: undefined };
      if (more.length > 0 || !/^(?:1?\d|20)$/.test(digits.text))
        return fail('number takes the number of decimals, from 0 to 20');
      return { name: 'number', digits: Number(digits.text) };
    }
    case 'currency': {
      const [code, ...more] = args;
      if (code === undefined || more.length > 0)
        return fail('currency takes the code of a currency, such as "EUR" or data.currency');
      if (code.isQuoted) return { name: 'currency', code: { literal: code.text } };
      const path = readPath(code.text, position, faults);
      return path && { name: 'currency', code: { path } };
    }
    case 'date': {
      const [{ text: style } = { text: 'medium' }, ...more] = args;
      const known = dateStyles.find((each) => each === style);
      if (known === undefined || more.length > 0) {
        return fail(`date takes one of ${dateStyles.join(', ')}`, nearest(style, dateStyles));
      }
      return { name: 'date', style: known };
    }
    case 'plural':
      return readPlural(args, fail);
    default: {
      const suggestion = first && nearest(first.text, formatterNames);
      return fail(`"${text.slice(0, 60)}" is no formatter`, suggestion ?? 'number');
    }
  }
}

/** @param args pairs of a plural category and a text, such as `one "comment" other "comments"` */
function readPlural(
  args: readonly Argument[],
  fail: (reason: string, suggestion?: string) => undefined,
): Formatter | undefined {
  const forms = new Map<string, string>();
  for (let index = 0; index < args.length; index += 2) {
    const [form, text] = [args[index], args[index + 1]];
    const known = pluralForms.find((each) => each === form?.text);
    if (known === undefined) {
      return fail(`plural takes pairs such as one "comment" other "comments"`, nearest(form?.text ?? '', pluralForms));
    }
    if (text?.isQuoted !== true) return fail(`plural needs a text in quotes after ${known}`);
    forms.set(known, text.text);
  }
  return forms.has('other') ? { name: 'plural', forms } : fail('plural needs a text for other');
}

/** The words and quoted texts of a formatter; undefined if a quote is not closed. */
function argumentsOf(text: string): Argument[] | undefined {
  const found: Argument[] = [];
  const pattern = /\s*(?:"([^"]*)"|([^\s"]+))/y;
  const end = text.trimEnd().length;
  while (pattern.lastIndex < end) {
    const [, quoted, word] = pattern.exec(text) ?? [];
    if (quoted === undefined && word === undefined) return undefined;
    found.push({ text: quoted ?? word ?? '', isQuoted: quoted !== undefined });
  }
  return found;
}
