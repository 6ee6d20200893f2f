/**
 * Makes Swagger UI show the first operation before it resolves the whole document, which takes most of the loading time.
 * The functions run in the browser: they are sent as text, so they must not refer to anything in this module.
 */

/** A part of Swagger UI's API. */
interface SwaggerUi {
  readonly plugins: { readonly DownloadUrl: (system: object) => object };
}
declare const SwaggerUIBundle: SwaggerUi;
declare function requestIdleCallback(callback: () => void): void;

interface System {
  readonly specActions: { updateJsonSpec(document: unknown): unknown };
}

/** The default plugin of Swagger UI. Setting `plugins` replaces it, so this adds it again. */
function downloadPlugin(system: object): object {
  return SwaggerUIBundle.plugins.DownloadUrl(system);
}

function earlyRenderPlugin(): object {
  return {
    statePlugins: {
      spec: {
        wrapActions: {
          // Swagger UI reads JSON with a YAML parser.
          parseToJson: (_original: unknown, system: System) => (text: string) =>
            system.specActions.updateJsonSpec(JSON.parse(text)),
          requestResolvedSubtree: (original: (path: unknown) => void) => (path: unknown) => {
            requestIdleCallback(() => original(path));
          },
        },
      },
    },
  };
}

/** The configuration of the page `/docs`. */
export const docsPageConfig = {
  deepLinking: true,
  defaultModelsExpandDepth: -1,
  plugins: [downloadPlugin, earlyRenderPlugin],
};
