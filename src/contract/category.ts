import { type Static, Type } from 'typebox';
import { AnyObject, Text } from './common.js';

/** The pattern of the names of categories. */
export const categoryNamePattern = '^[a-z][a-z0-9_.-]{0,63}$';
/** The most categories of an installation. */
export const maxCategories = 200;

/** The channels beside the inbox. */
export const stepChannels = ['push', 'email', 'sms'] as const;
export type StepChannel = (typeof stepChannels)[number];
export const stepConditions = ['always', 'unread', 'undelivered'] as const;

/** A name that a request chooses. */
const CategoryName = Type.String({ pattern: categoryNamePattern, examples: ['billing'] });

/** Texts by locale. Not `Type.Record`, whose pattern leaves out names with a line break. */
const Localized = (maxLength: number, description: string) =>
  Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: Text(maxLength, 1),
    description: `${description} The names are locales, such as en or es-MX. Without a text: the name of the category.`,
  });

const NewCategoryStep = Type.Object(
  {
    channel: Type.Enum(stepChannels, { title: 'StepChannel' }),
    after: Type.Optional(
      Type.String({
        maxLength: 10,
        description: 'When the step is due, counted from the publication. Steps are in the order of this time.',
        examples: ['1h'],
      }),
    ),
    if: Type.Optional(
      Type.Enum(stepConditions, {
        title: 'StepCondition',
        description:
          'always, which is the default; unread: the user has not read the notification; undelivered: no earlier step was sent.',
      }),
    ),
  },
  { title: 'CategoryStep', examples: [{ channel: 'push', after: '0s', if: 'always' }] },
);

/** What a channel or the inbox does for a category. */
export const ChannelChoice = Type.Enum(['on', 'off'] as const, { title: 'ChannelChoice' });

/** The same for a category, whose mails can also come as a digest. */
export const CellChoice = Type.Enum(['on', 'off', 'digest'] as const, {
  title: 'CellChoice',
  description: 'digest: only for email, and only if the category has a digest.',
});

/** What happens to what a cap does not let through. */
export const capOverflows = ['drop', 'digest'] as const;

/** How often a category may reach a user by each channel. */
export interface CategoryCap {
  readonly count: number;
  /** A duration such as `1d`. */
  readonly per: string;
  /** `digest`: mails join the digest. What goes through other channels is dropped. */
  readonly overflow: (typeof capOverflows)[number];
}

/** Mails of a category together in one. */
export interface CategoryDigest {
  /** A duration such as `15m`, or `daily 09:00` or `weekly mon 09:00` on the wall clock of the user. */
  readonly every: string;
  /** The most notifications that a mail shows. */
  readonly max_items: number;
}

const capDescription =
  'The most notifications that reach a user by each channel in a time. Critical categories ignore it. null: no limit.';
const digestDescription =
  'The mails of users who have chosen digest, together in one. every: 15m to 7d after the first one, or daily 09:00 or weekly mon 09:00 on the wall clock of the user. null: none.';

const CategoryCapInput = Type.Unsafe<(Omit<CategoryCap, 'overflow'> & { overflow?: CategoryCap['overflow'] }) | null>({
  type: ['object', 'null'],
  title: 'CategoryCapInput',
  properties: {
    count: Type.Integer({ minimum: 1, maximum: 1000 }),
    per: Type.String({ maxLength: 10 }),
    overflow: Type.Enum(capOverflows, { title: 'CapOverflow', description: 'The default is drop.' }),
  },
  required: ['count', 'per'],
  description: capDescription,
});
const CategoryDigestInput = Type.Unsafe<{ every: string; max_items?: number } | null>({
  type: ['object', 'null'],
  title: 'CategoryDigestInput',
  properties: {
    every: Type.String({ maxLength: 20 }),
    max_items: Type.Integer({ minimum: 1, maximum: 1000, description: 'The default is 20.' }),
  },
  required: ['every'],
  description: digestDescription,
});
const CategoryCap = Type.Unsafe<CategoryCap | null>({
  type: ['object', 'null'],
  title: 'CategoryCap',
  properties: {
    count: Type.Integer(),
    per: Type.String(),
    overflow: Type.Enum(capOverflows, { title: 'CapOverflow' }),
  },
  required: ['count', 'per', 'overflow'],
  description: capDescription,
});
const CategoryDigest = Type.Unsafe<CategoryDigest | null>({
  type: ['object', 'null'],
  title: 'CategoryDigest',
  properties: { every: Type.String(), max_items: Type.Integer() },
  required: ['every', 'max_items'],
  description: digestDescription,
});

const NewCategoryDefaults = Type.Object(
  {
    inbox: Type.Optional(ChannelChoice),
    push: Type.Optional(ChannelChoice),
    email: Type.Optional(CellChoice),
    sms: Type.Optional(ChannelChoice),
  },
  {
    title: 'CategoryDefaults',
    description:
      'For users who have not chosen. The default is on. With inbox off, notifications count as read and archived, and no tab shows them.',
  },
);

export const MessageTemplate = Type.Object(
  {
    subject: Type.Optional(Text(4096, 1)),
    title: Type.Optional(Text(4096, 1)),
    text: Type.String({ minLength: 1 }),
    html: Type.Optional(Type.String({ minLength: 1 })),
  },
  {
    title: 'MessageTemplate',
    description: '`subject` and `html` are for email, `title` for push.',
    examples: [{ title: '{{actor}}', text: '{{description}}' }],
  },
);
export type MessageTemplate = Static<typeof MessageTemplate>;

const members = {
  title: Type.Optional(Localized(255, 'What users see.')),
  description: Type.Optional(Localized(1000, 'What users see below the title.')),
  is_critical: Type.Optional(
    Type.Boolean({ description: 'Whether mutes and defaults do not apply, such as for warnings about an account.' }),
  ),
  steps: Type.Optional(Type.Array(NewCategoryStep, { maxItems: 4, description: 'The default is one push at once.' })),
  defaults: Type.Optional(NewCategoryDefaults),
  cap: Type.Optional(CategoryCapInput),
  digest: Type.Optional(CategoryDigestInput),
  ttl: Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      maxLength: 10,
      description: 'How long a step may be late, such as 72h. null: PUSH_TTL for pushes, and 72h for mails and SMS.',
    }),
  ),
  data_schema: Type.Optional(
    Type.Unsafe<Record<string, unknown> | null>({
      ...AnyObject('A JSON Schema for the `data` of notifications, at most 16 KB.', 'DataSchema'),
      type: ['object', 'null'],
    }),
  ),
  templates: Type.Optional(
    Type.Unsafe<Record<string, MessageTemplate>>({
      type: 'object',
      additionalProperties: MessageTemplate,
      description: 'The texts of the channels. A name is a channel, a dot and a locale: push.en, email.es-MX.',
    }),
  ),
};

const example = {
  title: { en: 'Bills' },
  description: { en: 'New bills and reminders' },
  is_critical: false,
  steps: [{ channel: 'push' as const, after: '0s', if: 'always' as const }],
  defaults: { inbox: 'on' as const, push: 'on' as const, email: 'on' as const, sms: 'off' as const },
  cap: { count: 3, per: '1d', overflow: 'digest' as const },
  digest: { every: 'daily 09:00', max_items: 20 },
  ttl: null,
  data_schema: null,
  templates: { 'push.en': { title: '{{actor}}', text: '{{description}}' } },
};

/** The body of `PUT /admin/v1/categories/{name}`. */
export const CategoryInput = Type.Object(
  { name: Type.Optional(Type.String({ description: 'If it is present, the name of the path.' })), ...members },
  { title: 'CategoryInput', examples: [example] },
);
export type CategoryInput = Static<typeof CategoryInput>;

/** An item of `PUT /admin/v1/categories`. */
export const NamedCategoryInput = Type.Object(
  { name: CategoryName, ...members },
  { title: 'NamedCategoryInput', examples: [{ name: 'billing', ...example }] },
);
export type NamedCategoryInput = Static<typeof NamedCategoryInput>;

/** A category with all of its members. It can be sent back as it is. */
export const Category = Type.Object(
  {
    name: Type.String(),
    title: Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: Type.String() }),
    description: Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: Type.String() }),
    is_critical: Type.Boolean(),
    steps: Type.Array(
      Type.Object(
        {
          channel: Type.Enum(stepChannels, { title: 'StepChannel' }),
          after: Type.String(),
          if: Type.Enum(stepConditions, { title: 'StepCondition' }),
        },
        { title: 'CategoryStepShown' },
      ),
    ),
    defaults: Type.Object(
      {
        inbox: ChannelChoice,
        push: ChannelChoice,
        email: CellChoice,
        sms: ChannelChoice,
      },
      { title: 'CategoryDefaultsShown' },
    ),
    cap: CategoryCap,
    digest: CategoryDigest,
    ttl: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
    data_schema: Type.Unsafe<Record<string, unknown> | null>({
      ...AnyObject('A JSON Schema.', 'DataSchema'),
      type: ['object', 'null'],
    }),
    templates: Type.Unsafe<Record<string, MessageTemplate>>({
      type: 'object',
      additionalProperties: MessageTemplate,
    }),
  },
  { title: 'Category', examples: [{ name: 'billing', ...example }] },
);
export type Category = Static<typeof Category>;

/** What a change of all categories does, or would do. */
export const CategoryChanges = Type.Object(
  {
    created: Type.Array(Type.String()),
    changed: Type.Array(
      Type.Object(
        { name: Type.String(), members: Type.Array(Type.String({ description: 'The members that differ.' })) },
        { title: 'ChangedCategory' },
      ),
    ),
    deleted: Type.Array(Type.String()),
  },
  {
    title: 'CategoryChanges',
    examples: [{ created: ['billing'], changed: [{ name: 'payment', members: ['title'] }], deleted: [] }],
  },
);
export type CategoryChanges = Static<typeof CategoryChanges>;

/** The body of a preview: what a publisher would send, without its users. */
export const MessagePreviewRequest = Type.Object(
  {
    channel: Type.Enum(stepChannels, { title: 'StepChannel' }),
    locale: Type.Optional(Text(35, 1)),
    notification: Type.Object(
      {
        actor: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 255 })),
        description: Text(4096, 1),
        url: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 2048 })),
        data: Type.Optional(
          Type.Unsafe<Record<string, unknown> | null>({
            ...AnyObject('Values of the app, at most 8 KB as JSON.', 'NotificationData'),
            type: ['object', 'null'],
          }),
        ),
      },
      { title: 'PreviewedNotification' },
    ),
  },
  {
    title: 'MessagePreviewRequest',
    examples: [
      {
        channel: 'email',
        locale: 'es-MX',
        notification: { actor: 'Grace Hopper', description: 'Grace Hopper paid you 12.50', data: { sum: 12.5 } },
      },
    ],
  },
);
export type MessagePreviewRequest = Static<typeof MessagePreviewRequest>;

const NullableTextShown = Type.Unsafe<string | null>({ type: ['string', 'null'] });

const PreviewWarning = Type.Object(
  { code: Type.Literal('inbox_off_unread'), message: Type.String() },
  {
    title: 'PreviewWarning',
    examples: [
      {
        code: 'inbox_off_unread',
        message: 'With the inbox off, a notification counts as read: steps with unread do not go.',
      },
    ],
  },
);

/** A message as a channel would send it. */
export const MessagePreview = Type.Object(
  {
    template: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description:
        'The name of the template; null: there is none for this language, and the notification is shown as it is.',
    }),
    subject: NullableTextShown,
    title: NullableTextShown,
    text: Type.String(),
    html: NullableTextShown,
    warnings: Type.Array(PreviewWarning, { description: 'What is allowed, and probably not what is meant.' }),
  },
  {
    title: 'MessagePreview',
    examples: [
      { template: 'push.en', subject: null, title: 'Grace Hopper', text: 'Paid you 12.50', html: null, warnings: [] },
    ],
  },
);
export type MessagePreview = Static<typeof MessagePreview>;
/** The message alone. */
export type RenderedMessage = Omit<MessagePreview, 'warnings'>;
