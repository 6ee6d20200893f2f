import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  base: '/console/',
  plugins: [react()],
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
