/** The parser of mustache, which has no types of its own. */
declare module 'mustache' {
  class Writer {
    /** Parsed templates by their text. It has no limit, so Postern removes it. */
    templateCache: object | undefined;
    /** @throws Error whose message ends with a position */
    parse(template: string): readonly mustache.Token[];
  }
  const mustache: { readonly Writer: typeof Writer };
  namespace mustache {
    /**
     * The type is `text`, `name`, `#`, `^`, `!`, `&`, `>` or `=`. The positions count from 0. Sections have children.
     */
    type Token = readonly [type: string, value: string, start: number, end: number, children?: readonly Token[]];
  }
  export = mustache;
}
