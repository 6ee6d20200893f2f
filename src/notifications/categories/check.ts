import { type CategoryInput, categoryNamePattern, type StepChannel } from '../../contract/category.js';
import { isJsonObject } from '../../lib/json-object.js';
import type { Pace } from '../../lib/pacing.js';
import type { FieldError } from '../../lib/problem.js';
import { parseDuration } from '../../lib/times.js';
import { inOneLine } from '../templates/render.js';
import { canonicalLocale, templateErrors } from '../templates/templates.js';
import { schemaErrors } from './data-schema.js';

const day = 86_400_000;
/** In milliseconds: the latest time of a step after its publication, and the limits of `ttl`. */
const limits = { after: 30 * day, minTtl: 60_000, maxTtl: 30 * day };
/** The maximum size of all categories as JSON, in bytes, so that one request can send them. */
export const maxSetBytes = 4 * 1024 * 1024;

export interface CategoryRules {
  /** The channels that this installation sends notifications through. */
  readonly channels: readonly StepChannel[];
  /** Whether mails can have an unsubscribe link. */
  readonly hasUnsubscribeLinks: boolean;
}

/** The errors of all categories of a request, whose form may be wrong too. */
export async function setErrors(
  categories: readonly unknown[],
  rules: CategoryRules,
  pace: Pace,
): Promise<FieldError[]> {
  const errors: FieldError[] = [];
  const names = new Set<unknown>();
  for (const [index, category] of categories.entries()) {
    const { name } = isJsonObject(category) ? category : {};
    if (name !== undefined && names.has(name)) errors.push({ field: `${index}.name`, code: 'duplicate_items' });
    names.add(name);
    errors.push(...(await categoryErrors(category, rules, pace, `${index}.`)));
  }
  return errors;
}

/**
 * The faults of a category, except those of its form, which the schema reports. Members of a wrong form are skipped.
 * @param path the prefix of field names: `3.`, or empty
 */
export async function categoryErrors(
  category: unknown,
  rules: CategoryRules,
  pace: Pace,
  path = '',
): Promise<FieldError[]> {
  if (!isJsonObject(category)) return [];
  const { title, description, is_critical: isCritical, steps, ttl, data_schema: schema, templates } = category;
  const { cap, digest, defaults } = category;
  const errors = [
    ...localizedErrors(title, `${path}title`, { max: 255, isOneLine: true }),
    ...localizedErrors(description, `${path}description`, { max: 1000, isOneLine: false }),
    ...(Array.isArray(steps)
      ? stepErrors(steps, rules, { field: `${path}steps`, isCritical: isCritical === true })
      : []),
    ...ttlErrors(ttl, `${path}ttl`),
    ...capErrors(cap, `${path}cap`),
    ...digestErrors(digest, `${path}digest`),
    ...digestUseErrors({ cap, digest, defaults }, path),
  ];
  // Compiling a schema takes milliseconds, and a request may have hundreds.
  await pace();
  const faults = isJsonObject(schema) ? schemaErrors(schema, `${path}data_schema`) : [];
  errors.push(...faults);
  if (!isJsonObject(templates)) return errors;
  for (const [name, template] of Object.entries(templates)) {
    await pace();
    const field = `${path}templates.${name}`;
    const form = formErrors(template, field);
    if (form.length > 0) errors.push(...form);
    // If the schema is invalid, paths below `data` cannot be checked.
    else errors.push(...templateErrors(name, template as TemplateOf, faults.length > 0 ? null : schema, field));
  }
  return errors;
}

type TemplateOf = NonNullable<CategoryInput['templates']>[string];

const templateParts = ['subject', 'title', 'text', 'html'];

/** The validator of bodies does not look into objects whose names are free. */
function formErrors(template: unknown, field: string): FieldError[] {
  if (!isJsonObject(template)) return [{ field, code: 'invalid_type', params: { expected: 'object' } }];
  const errors: FieldError[] = [];
  for (const [part, source] of Object.entries(template)) {
    const place = `${field}.${part}`;
    if (!templateParts.includes(part)) {
      errors.push({ field: place, code: 'unknown_member', params: { value: part, known: templateParts.join(', ') } });
    } else if (typeof source !== 'string')
      errors.push({ field: place, code: 'invalid_type', params: { expected: 'string' } });
    else if (source === '') errors.push({ field: place, code: 'required' });
  }
  if (template.text === undefined) errors.push({ field: `${field}.text`, code: 'required' });
  return errors;
}

/** @param options.isOneLine whether the text comes into the subjects of mails */
function localizedErrors(
  texts: unknown,
  field: string,
  { max, isOneLine }: { readonly max: number; readonly isOneLine: boolean },
): FieldError[] {
  if (!isJsonObject(texts)) return [];
  return Object.entries(texts).flatMap(([locale, text]): FieldError[] => {
    const place = `${field}.${locale}`;
    if (canonicalLocale(locale) === undefined) return [{ field: place, code: 'invalid_locale' }];
    if (typeof text !== 'string') return [{ field: place, code: 'invalid_type', params: { expected: 'string' } }];
    if (text === '') return [{ field: place, code: 'required' }];
    if (isOneLine && inOneLine(text) !== text) return [{ field: place, code: 'invalid_characters' }];
    return text.length > max ? [{ field: place, code: 'too_long', params: { max } }] : [];
  });
}

function stepErrors(
  steps: readonly unknown[],
  { channels, hasUnsubscribeLinks }: CategoryRules,
  { field, isCritical }: { readonly field: string; readonly isCritical: boolean },
): FieldError[] {
  const errors: FieldError[] = [];
  const used = new Set<unknown>();
  let latest = 0;
  for (const [index, step] of steps.entries()) {
    const { channel, after = '0s' } = isJsonObject(step) ? step : {};
    const place = `${field}.${index}`;
    if (channel !== undefined && used.has(channel)) errors.push({ field: `${place}.channel`, code: 'duplicate_items' });
    else if (isChannel(channel) && !channels.includes(channel)) {
      errors.push({
        field: `${place}.channel`,
        code: 'channel_not_available',
        params: { allowed: channels.join(', ') },
      });
    } else if (channel === 'email' && !isCritical && !hasUnsubscribeLinks) {
      errors.push({ field: `${place}.channel`, code: 'public_url_required' });
    }
    used.add(channel);
    if (typeof after !== 'string') continue;
    const delay = parseDuration(after);
    if (delay === undefined || delay > limits.after) {
      errors.push({ field: `${place}.after`, code: 'invalid_duration', params: { min: '0s', max: '30d' } });
      continue;
    }
    if (delay < latest) errors.push({ field: `${place}.after`, code: 'step_order' });
    latest = Math.max(latest, delay);
  }
  return errors;
}

const isChannel = (value: unknown): value is StepChannel => value === 'push' || value === 'email' || value === 'sms';

const maxPer = limits.after;

function capErrors(cap: unknown, field: string): FieldError[] {
  const { per } = isJsonObject(cap) ? cap : {};
  if (typeof per !== 'string') return [];
  const value = parseDuration(per);
  return value !== undefined && value >= 60_000 && value <= maxPer
    ? []
    : [{ field: `${field}.per`, code: 'invalid_duration', params: { min: '1m', max: '30d' } }];
}

const wallClockTimes = /^(?:daily|weekly (?:mon|tue|wed|thu|fri|sat|sun)) (?:[01][0-9]|2[0-3]):[0-5][0-9]$/;

function digestErrors(digest: unknown, field: string): FieldError[] {
  const { every } = isJsonObject(digest) ? digest : {};
  if (typeof every !== 'string' || wallClockTimes.test(every)) return [];
  const value = /^[0-9]+[smhd]$/.test(every) ? parseDuration(every) : undefined;
  return value !== undefined && value >= 15 * 60_000 && value <= 7 * day
    ? []
    : [{ field: `${field}.every`, code: 'invalid_schedule' }];
}

/** Reports members that need a digest, if the category has none. */
function digestUseErrors(
  { cap, digest, defaults }: Record<'cap' | 'digest' | 'defaults', unknown>,
  path: string,
): FieldError[] {
  if (isJsonObject(digest)) return [];
  const errors: FieldError[] = [];
  if (isJsonObject(cap) && cap.overflow === 'digest') errors.push({ field: `${path}cap.overflow`, code: 'no_digest' });
  if (isJsonObject(defaults) && defaults.email === 'digest')
    errors.push({ field: `${path}defaults.email`, code: 'no_digest' });
  return errors;
}

function ttlErrors(ttl: unknown, field: string): FieldError[] {
  if (typeof ttl !== 'string') return [];
  const value = parseDuration(ttl);
  if (value !== undefined && value >= limits.minTtl && value <= limits.maxTtl) return [];
  return [{ field, code: 'invalid_duration', params: { min: '1m', max: '30d' } }];
}

/** Whether a text can be the name of a category. */
export const isCategoryName = (text: string): boolean => new RegExp(categoryNamePattern).test(text);
