// Templates of frameworks that use the elements. Each `Wrong` file has one mistake on each of five lines, which the compiler must find.
const options = {
  strict: true,
  noEmit: true,
  target: 'es2022',
  module: 'esnext',
  moduleResolution: 'bundler',
  lib: ['es2022', 'dom', 'dom.iterable'],
  jsx: 'react-jsx',
  types: [],
};
const config = JSON.stringify({
  compilerOptions: options,
  vueCompilerOptions: { strictTemplates: true },
  include: ['.'],
});

const script = `import type { InboxItem } from '@postern/client';
const label = (item: InboxItem) => item.description;
const open = (path: string) => console.log(path);
`;

/** @type {Record<string, string>} */
export const templates = {
  'vue/tsconfig.json': config,
  'svelte/tsconfig.json': config,
  'react/tsconfig.json': config,
  'vue/App.vue': `<script setup lang="ts">
${script}</script>

<template>
  <postern-sign-in
    ways="passkey password" return-to="/" identity-types="email" registration="off" lang="es"
    class="wide" :style="{ color: 'red' }" aria-label="Sign in"
    @postern-signed-in="(event) => open(event.detail.user_id)"
    @postern-error="(event) => open(event.detail.kind)"
  />
  <postern-inbox
    layout="list" :limit="10" open :render-item="label" :filter="{ notification_type: 'payment' }"
    @postern-select="({ detail }) => open(detail.description)" @click="open('click')"
  />
  <postern-account sections="profile security" @postern-changed="({ detail }) => open(detail.operation)" />
</template>
`,
  'vue/Wrong.vue': `<template>
  <postern-inbox layout="bel" />
  <postern-inbox :limit="'ten'" />
  <postern-inbox layout="never ever" />
  <postern-inbox @postern-select="({ detail }) => detail.nothing" />
  <postern-sign-in registration="yes" />
</template>
`,
  'svelte/App.svelte': `<script lang="ts">
${script}</script>

<postern-sign-in
  ways="passkey password" return-to="/" identity-types="email" registration="off" lang="es"
  class="wide" style="color: red" aria-label="Sign in" data-test="1"
  onpostern-signed-in={(event) => open(event.detail.user_id)}
  onpostern-error={({ detail }) => open(detail.kind)}
></postern-sign-in>
<postern-inbox
  layout="list" limit={10} open renderItem={label} filter={{ notification_type: 'payment' }}
  onpostern-select={({ detail }) => open(detail.description)} onfocusin={() => open('focus')}
><span slot="heading">News</span></postern-inbox>
<postern-account sections="profile security" onpostern-changed={({ detail }) => open(detail.operation)}></postern-account>
`,
  'svelte/Wrong.svelte': `<script lang="ts"></script>
<postern-inbox layout="bel"></postern-inbox>
<postern-inbox limit={'ten'}></postern-inbox>
<postern-inbox layout="never ever"></postern-inbox>
<postern-inbox onpostern-select={({ detail }) => detail.nothing}></postern-inbox>
<postern-sign-in registration="yes"></postern-sign-in>
`,
  'react/App.tsx': `${script}
export const app = (
  <>
    <postern-sign-in
      ways="passkey password" return-to="/" identity-types="email" registration="off" lang="es"
      className="wide" style={{ color: 'red' }} aria-label="Sign in" data-test="1"
      onpostern-signed-in={(event) => open(event.detail.user_id)}
      onpostern-error={({ detail }) => open(detail.kind)}
    />
    <postern-inbox
      layout="list" limit={10} open renderItem={label} filter={{ notification_type: 'payment' }}
      onpostern-select={({ detail }) => open(detail.description)} onClick={() => open('click')} key="inbox"
    ><span slot="heading">News</span></postern-inbox>
    <postern-account sections="profile security" onpostern-changed={({ detail }) => open(detail.operation)} />
  </>
);
`,
  'react/Wrong.tsx': `export const wrong = [
  <postern-inbox layout="bel" />,
  <postern-inbox limit="ten" />,
  <postern-inbox layout="never ever" />,
  <postern-inbox onpostern-select={({ detail }) => detail.nothing} />,
  <postern-sign-in registration="yes" />,
];
`,
};
