import { UsageError } from '../errors.js';
import type { NotificationKey, NotificationType } from '../registered.js';
import type { NotificationFilterKinds } from '../wire.js';

type OneOrMore<T> = T | readonly T[];
type Matches<T> = OneOrMore<T> | { readonly eq?: OneOrMore<T> | undefined; readonly neq?: OneOrMore<T> | undefined };
type MatchesText = Matches<string> | { readonly like: string };
type Compares<T> =
  | OneOrMore<T>
  | {
      readonly eq?: OneOrMore<T> | undefined;
      readonly neq?: OneOrMore<T> | undefined;
      readonly gt?: T | undefined;
      readonly gte?: T | undefined;
      readonly lt?: T | undefined;
      readonly lte?: T | undefined;
    };

interface Conditions<Text> {
  readonly id: Matches<string>;
  readonly enum: Matches<Text>;
  readonly key: Matches<Text>;
  /** `like` finds a part of the text in any letter case. */
  readonly string: MatchesText;
  readonly integer: Compares<number>;
  readonly number: Compares<number>;
  readonly time: Compares<string | Date>;
}

/** Fields whose values an app can declare (`Register`). */
interface Declared {
  readonly notification_type: NotificationType;
  readonly notification_key: NotificationKey;
}

/** Conditions that must all hold. Several values: any of them matches, or with `neq` none. Values are escaped for you. */
export type NotificationConditions = {
  readonly [Field in Exclude<keyof NotificationFilterKinds, 'user_id'>]?:
    | Conditions<Field extends keyof Declared ? Declared[Field] : string>[NotificationFilterKinds[Field]]
    | undefined;
};

/** Text is in the grammar of the service, such as `notification_type:eq:payment`, and is sent as it is. */
export type NotificationFilter = NotificationConditions | string;

const escapeValue = (value: unknown) =>
  (value instanceof Date ? value.toISOString() : `${value}`).replace(/[\\,|:;[\]]/g, '\\$&');

/** A filter in the grammar of the service. @throws UsageError for a condition without values */
export function filterText(filter: NotificationFilter | undefined): string | undefined {
  if (typeof filter !== 'object') return filter;
  const clauses = Object.entries(filter).flatMap(([field, condition]: [string, unknown]) => {
    if (condition === undefined) return [];
    const isOperators = typeof condition === 'object' && !Array.isArray(condition) && !(condition instanceof Date);
    return Object.entries(isOperators ? (condition as object) : { eq: condition }).flatMap(([operator, operand]) => {
      if (operand === undefined) return [];
      const values = [operand].flat().map(escapeValue);
      if (values.length === 0) throw new UsageError(`The condition on \`${field}\` needs a value.`);
      if (operator === 'eq' && values.length > 1) return `${field}:in:${values.join(';')}`;
      return values.map((value) => `${field}:${operator}:${value}`);
    });
  });
  return clauses.length === 0 ? undefined : clauses.join();
}
