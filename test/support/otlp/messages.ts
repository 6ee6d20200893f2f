/** The messages of OTLP 1 for traces (opentelemetry-proto, `trace/v1` and `common/v1`): number, name and type of each field. */
export type FieldType = 'string' | 'id' | 'uint' | 'int' | 'fixed32' | 'fixed64' | 'bool' | 'double' | MessageName;
export type MessageName = keyof typeof messages;

export interface Field {
  readonly number: number;
  readonly name: string;
  readonly type: FieldType;
  readonly isList: boolean;
}

/** `name: type`, in the order of the numbers; `name*` is a list, and `-` is a number that is not used. */
export const messages = {
  ExportTraceServiceRequest: ['resourceSpans*: ResourceSpans'],
  ResourceSpans: ['resource: Resource', 'scopeSpans*: ScopeSpans', 'schemaUrl: string'],
  Resource: ['attributes*: KeyValue', 'droppedAttributesCount: uint'],
  ScopeSpans: ['scope: InstrumentationScope', 'spans*: Span', 'schemaUrl: string'],
  InstrumentationScope: ['name: string', 'version: string', 'attributes*: KeyValue', 'droppedAttributesCount: uint'],
  Span: [
    ...['traceId: id', 'spanId: id', 'traceState: string', 'parentSpanId: id', 'name: string', 'kind: uint'],
    ...['startTimeUnixNano: fixed64', 'endTimeUnixNano: fixed64', 'attributes*: KeyValue'],
    ...['droppedAttributesCount: uint', 'events*: Event', 'droppedEventsCount: uint', 'links*: Link'],
    ...['droppedLinksCount: uint', 'status: Status', 'flags: fixed32'],
  ],
  Event: ['timeUnixNano: fixed64', 'name: string', 'attributes*: KeyValue', 'droppedAttributesCount: uint'],
  Link: [
    ...['traceId: id', 'spanId: id', 'traceState: string', 'attributes*: KeyValue', 'droppedAttributesCount: uint'],
    'flags: fixed32',
  ],
  Status: ['-', 'message: string', 'code: uint'],
  KeyValue: ['key: string', 'value: AnyValue'],
  AnyValue: [
    'stringValue: string',
    'boolValue: bool',
    'intValue: int',
    'doubleValue: double',
    'arrayValue: ArrayValue',
  ],
  ArrayValue: ['values*: AnyValue'],
} as const;

/** The fields of a message. */
export function fieldsOf(message: MessageName): Field[] {
  return messages[message].flatMap((text, index) => {
    const [, name = '', list, type] = /^(\w+)(\*?): (\w+)$/.exec(text) ?? [];
    return name === '' ? [] : [{ number: index + 1, name, type: type as FieldType, isList: list === '*' }];
  });
}

export const isMessage = (type: FieldType): type is MessageName => Object.hasOwn(messages, type);

/** A decoded message: numbers as numbers, fixed64 as decimal text, ids as hexadecimal text. */
export type Decoded = { readonly [name: string]: Decoded | Decoded[] | string | number | boolean };
