import type { PosternAccount } from './account/element.js';
import type { PosternInbox } from './inbox/element.js';
import type { PosternSignIn } from './sign-in/element.js';

/** The attributes of every element in JSX. */
interface CommonProps {
  readonly id?: string | undefined;
  readonly className?: string | undefined;
  readonly style?: object | undefined;
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

/**
 * The elements in JSX. Add them to the types of your framework once.
 *
 * @example
 * ```ts
 * import type { PosternIntrinsicElements } from '@postern/elements';
 *
 * declare module 'react' {
 *   namespace JSX {
 *     interface IntrinsicElements extends PosternIntrinsicElements {}
 *   }
 * }
 * ```
 */
export interface PosternIntrinsicElements {
  readonly 'postern-sign-in': Props<PosternSignIn, 'postern' | 'texts' | 'pin'> & {
    readonly ways?: string | undefined;
    readonly 'identity-types'?: string | undefined;
    readonly registration?: boolean | 'off' | undefined;
    readonly recovery?: boolean | 'off' | undefined;
    readonly 'return-to'?: string | undefined;
  };
  readonly 'postern-account': Props<PosternAccount, 'postern' | 'texts'> & {
    readonly sections?: string | undefined;
  };
  readonly 'postern-inbox': Props<
    PosternInbox,
    'postern' | 'texts' | 'layout' | 'limit' | 'open' | 'filter' | 'renderItem'
  > & {
    readonly 'mark-read'?: PosternInbox['markRead'] | undefined;
  };
}
