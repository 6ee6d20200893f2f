import type { AccountEvents, PosternAccount } from './account/element.js';
import type { BaseEvents } from './base/element.js';
import type { InboxEvents, PosternInbox } from './inbox/element.js';
import type { PosternPreferences, PreferencesEvents } from './preferences/element.js';
import type { PosternSignIn, SignInEvents } from './sign-in/element.js';
import type { PosternStepUp, StepUpEvents } from './step-up/element.js';

/** The attributes of every element in JSX and in templates, whatever the framework. */
interface CommonProps {
  readonly id?: string | undefined;
  readonly class?: unknown;
  readonly className?: string | undefined;
  readonly style?: object | string | undefined;
  readonly title?: string | undefined;
  readonly role?: string | undefined;
  readonly part?: string | undefined;
  readonly tabIndex?: number | undefined;
  readonly tabindex?: number | string | undefined;
  readonly inert?: boolean | undefined;
  readonly translate?: 'yes' | 'no' | undefined;
  readonly suppressHydrationWarning?: boolean | undefined;
  readonly lang?: string | undefined;
  readonly dir?: 'ltr' | 'rtl' | 'auto' | undefined;
  readonly slot?: string | undefined;
  readonly hidden?: boolean | undefined;
  readonly key?: string | number | undefined;
  // The types of frameworks differ, and this package depends on none of them.
  readonly ref?: unknown;
  readonly children?: unknown;
}

type Props<E, Names extends keyof E> = CommonProps & { readonly [Name in Names]?: E[Name] | undefined };
/** Listeners, as React 19, Preact, Solid and Svelte 5 name them: `onpostern-signed-in`. */
type Listeners<Events> = {
  readonly [Name in keyof (Events & BaseEvents) as `on${Name & string}`]?:
    | ((event: (Events & BaseEvents)[Name]) => unknown)
    | undefined;
};
type Camel<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${Capitalize<First>}${Camel<Rest>}`
  : Capitalize<Name>;
/** The same attributes and listeners as Vue names them: `returnTo` for `return-to`, `onPosternSignedIn` for `@postern-signed-in`. */
type VueProps<P> = {
  readonly [Name in keyof P as Name extends `on${infer Event}-${infer Rest}`
    ? `on${Camel<`${Event}-${Rest}`>}`
    : Name extends `${infer First}-${infer Rest}`
      ? `${First}${Camel<Rest>}`
      : never]: P[Name];
};

/**
 * The elements in JSX, with their attributes, properties and events. Add them to the types of your framework once. In Svelte, the
 * interface to extend is `SvelteHTMLElements` of `svelte/elements`. `Attributes`: what your framework knows of all elements, such as
 * `onClick`.
 *
 * @example
 * ```ts
 * import type { PosternIntrinsicElements } from '@postern/elements';
 * import type { HTMLAttributes } from 'react';
 *
 * declare module 'react' {
 *   namespace JSX {
 *     interface IntrinsicElements extends PosternIntrinsicElements<HTMLAttributes<HTMLElement>> {}
 *   }
 * }
 * ```
 */
export interface PosternIntrinsicElements<Attributes = unknown> {
  readonly 'postern-sign-in': Attributes &
    Props<PosternSignIn, 'postern' | 'texts' | 'pin'> &
    Listeners<SignInEvents> & {
      readonly ways?: string | undefined;
      readonly 'identity-types'?: string | undefined;
      readonly registration?: boolean | 'off' | undefined;
      readonly recovery?: boolean | 'off' | undefined;
      readonly 'return-to'?: string | undefined;
      readonly identity?: string | undefined;
    };
  readonly 'postern-account': Attributes &
    Props<PosternAccount, 'postern' | 'texts'> &
    Listeners<AccountEvents> & {
      readonly sections?: string | undefined;
    };
  readonly 'postern-inbox': Attributes &
    Props<PosternInbox, 'postern' | 'texts' | 'layout' | 'limit' | 'open' | 'filter' | 'renderItem' | 'hrefOf'> &
    Listeners<InboxEvents> & {
      readonly [Name in 'tabs' | 'archive' | 'snooze']?: boolean | '' | undefined;
    };
  readonly 'postern-preferences': Attributes &
    Props<PosternPreferences, 'postern' | 'texts'> &
    Listeners<PreferencesEvents> & {
      readonly 'account-url'?: string | undefined;
    };
  readonly 'postern-step-up': Attributes & Props<PosternStepUp, 'postern' | 'texts'> & Listeners<StepUpEvents>;
}

/**
 * The elements in templates of Vue. Add them to its types once. `Attributes`: what Vue knows of all elements.
 *
 * @example
 * ```ts
 * import type { PosternVueComponents } from '@postern/elements';
 *
 * // In a file of your app:
 * // declare module 'vue' { interface GlobalComponents extends PosternVueComponents<HTMLAttributes> {} }
 * export type InboxProps = InstanceType<PosternVueComponents['postern-inbox']>['$props'];
 * ```
 */
export type PosternVueComponents<Attributes = unknown> = {
  readonly [Name in keyof PosternIntrinsicElements]: new () => {
    readonly $props: Attributes & PosternIntrinsicElements[Name] & VueProps<PosternIntrinsicElements[Name]>;
  };
};
