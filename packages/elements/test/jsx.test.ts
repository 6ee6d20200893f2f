import type { PosternSignIn, PreferencesEvents, SignInEvents } from '@postern/elements';
import { expectTypeOf, test } from 'vitest';
import type { PosternIntrinsicElements, PosternVueComponents } from '../src/index.js';

type SignIn = PosternIntrinsicElements['postern-sign-in'];
type Inbox = PosternIntrinsicElements['postern-inbox'];
type VueSignIn = InstanceType<PosternVueComponents['postern-sign-in']>['$props'];

test('JSX knows the events of an element, and those of all', () => {
  const props: SignIn = {
    'onpostern-signed-in': ({ detail }) => detail.user_id.length,
    'onpostern-error': ({ detail }) => detail.kind,
    class: 'wide',
    title: 'Sign in',
    tabIndex: 0,
    part: 'box',
    role: 'region',
  };
  expectTypeOf(props['onpostern-signed-in']).parameter(0).toEqualTypeOf<SignInEvents['postern-signed-in']>();
  expectTypeOf<Inbox>().toHaveProperty('onpostern-ready');
  const preferences: PosternIntrinsicElements['postern-preferences'] = {
    'account-url': '/account',
    'onpostern-changed': ({ detail }) => detail.categories?.billing?.email,
  };
  expectTypeOf(preferences['onpostern-changed']).parameter(0).toEqualTypeOf<PreferencesEvents['postern-changed']>();
  // @ts-expect-error no element has this event
  const wrong: SignIn = { 'onpostern-signed-inn': () => undefined };
  expectTypeOf(wrong).toEqualTypeOf<SignIn>();
});

test('templates of Vue know the same events and attributes', () => {
  expectTypeOf<VueSignIn['onPosternSignedIn']>().toEqualTypeOf<SignIn['onpostern-signed-in']>();
  expectTypeOf<VueSignIn['onPosternStep']>().toEqualTypeOf<SignIn['onpostern-step']>();
  expectTypeOf<VueSignIn['return-to']>().toEqualTypeOf<string | undefined>();
  expectTypeOf<VueSignIn['postern']>().toEqualTypeOf<PosternSignIn['postern'] | undefined>();
});
