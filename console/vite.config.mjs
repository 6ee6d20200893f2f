import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const source = readFileSync(new URL('src/theme.js', import.meta.url));
const themeFile = `assets/theme-${createHash('sha256').update(source).digest('base64url').slice(0, 8)}.js`;

/** Puts src/theme.js into the page as a classic script, before everything else. @type {import('vite').Plugin} */
const themeScript = {
  name: 'theme-script',
  generateBundle() {
    this.emitFile({ type: 'asset', fileName: themeFile, source });
  },
  transformIndexHtml: () => [{ tag: 'script', attrs: { src: `./${themeFile}` }, injectTo: 'head-prepend' }],
};

export default defineConfig({
  // Relative, because PUBLIC_URL may have a path. The service replaces `./assets/` in the page.
  base: './',
  plugins: [react(), themeScript],
  // Nothing becomes a data: URL, which the content security policy refuses.
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    emptyOutDir: true,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        entryFileNames: 'assets/[name]-[hash].js',
        chunkFileNames: 'assets/[name]-[hash].js',
        assetFileNames: 'assets/[name]-[hash][extname]',
        // Libraries change rarely: their file keeps its name when the console changes. Pages load what only they need.
        codeSplitting: {
          groups: [{ name: 'libraries', test: /node_modules\/(?!uqr|@tanstack\/(?:react-virtual|virtual-core))/ }],
        },
      },
    },
  },
});
