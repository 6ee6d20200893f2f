import { createFormats, type Formats } from './formats.js';
import type { Path, TemplateNode } from './parse.js';

/** The values that templates can show. Values are JSON, and are never read as templates. */
export type TemplateValues = Readonly<Record<string, unknown>>;

/** The limits for rendering all parts of one message. */
export interface RenderBudget {
  /** The number of parts that may still be visited, also in empty loops. */
  steps: number;
  /** Bytes of output that may still be written. */
  bytes: number;
}

/** A budget for one message. */
export const newBudget = (): RenderBudget => ({ steps: 50_000, bytes: 256 * 1024 });

/** Rendering a template would take more than its budget. */
export class TemplateTooLarge extends Error {
  override readonly name = 'TemplateTooLarge';
}

export interface RenderingOptions {
  readonly locale: string;
  /** A name of the IANA database. */
  readonly timeZone: string;
  /** Makes a value safe for its place. Texts of the template are written as they are. */
  readonly escape: (value: string) => string;
  readonly budget: RenderBudget;
}

/** Takes a text out of a budget. @throws TemplateTooLarge */
export function spendBytes(budget: RenderBudget, text: string): void {
  // In this order: counting the bytes of a long text takes long.
  if (text.length > budget.bytes) throw new TemplateTooLarge();
  budget.bytes -= Buffer.byteLength(text);
  if (budget.bytes < 0) throw new TemplateTooLarge();
}

/**
 * Renders a template. The time is bounded by the budget, whatever the template and the values are.
 * @throws TemplateTooLarge
 */
export const render = (
  nodes: readonly TemplateNode[],
  { values, ...options }: RenderingOptions & { readonly values: TemplateValues },
): string => createRendering(nodes, options)(values);

/**
 * Creates a function that renders a template for any values. All of its calls together have one budget.
 * @returns throws TemplateTooLarge
 */
export function createRendering(
  nodes: readonly TemplateNode[],
  options: RenderingOptions,
): (values: TemplateValues) => string {
  const { budget } = options;
  let output: string[] = [];
  const formats = createFormats(options, (steps) => spend(budget, steps));

  function write(text: string): void {
    spendBytes(budget, text);
    output.push(text);
  }

  function visit(children: readonly TemplateNode[], scopes: readonly unknown[]): void {
    for (const node of children) {
      spend(budget, 1);
      if (node.kind === 'text') write(node.text);
      else if (node.kind === 'value') write(options.escape(textOf(node, scopes, formats)));
      else visitSection(node, scopes);
    }
  }

  function visitSection(node: TemplateNode & { kind: 'section' }, scopes: readonly unknown[]): void {
    const value = lookUp(node.path, scopes);
    const isEmpty = !value || (Array.isArray(value) && value.length === 0);
    if (node.isInverted) {
      if (isEmpty) visit(node.children, scopes);
    } else if (Array.isArray(value)) {
      for (const item of value) {
        spend(budget, 1);
        visit(node.children, [...scopes, item]);
      }
    } else if (!isEmpty) visit(node.children, value === true ? scopes : [...scopes, value]);
  }

  return (values) => {
    output = [];
    visit(nodes, [values]);
    return output.join('');
  };
}

function spend(budget: RenderBudget, steps: number): void {
  budget.steps -= steps;
  if (budget.steps < 0) throw new TemplateTooLarge();
}

function textOf(
  { path, formatter }: TemplateNode & { kind: 'value' },
  scopes: readonly unknown[],
  formats: Formats,
): string {
  const value = lookUp(path, scopes);
  if (value === null || value === undefined || typeof value === 'object') return '';
  if (formatter === undefined) return String(value);
  const code = formatter.name === 'currency' && 'path' in formatter.code ? lookUp(formatter.code.path, scopes) : '';
  return formats.format(value, formatter, String(code ?? '')) ?? String(value);
}

/** The value of a path: its first name is searched from the innermost section outwards. Only own members are found. */
function lookUp(path: Path, scopes: readonly unknown[]): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return scopes.at(-1);
  const scope = scopes.findLast((each) => memberOf(each, first) !== undefined);
  return rest.reduce(memberOf, memberOf(scope, first));
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  if (Array.isArray(value) && !/^\d+$/.test(name)) return undefined;
  return Reflect.get(value, name);
}

/** Control characters, and the line separators of Unicode. */
const breaks = /[\p{Cc}\u2028\u2029]+/gu;

/** For texts of one line, such as subjects: nothing can start another line or header. */
export const inOneLine = (value: string): string => value.replace(breaks, ' ');

/** For texts of several lines. */
export const asIs = (value: string): string => value;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
  '=': '&#61;',
};

/** For values in HTML, also in attributes without quotes. */
export const inHtml = (value: string): string => value.replace(/[&<>"'`=]/g, (char) => entities[char] ?? char);
