import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import { setLanguage } from '../api/client.js';
import { type Language, language } from '../lib/preferences.js';
import { useStore } from '../lib/store.js';
import { createFormats, type Formats } from './formats.js';
import type { Texts } from './texts.js';

interface Loaded {
  readonly language: Language;
  readonly texts: Texts;
  readonly formats: Formats;
}

const Context = createContext<Loaded | undefined>(undefined);

/** Each language is a separate file, so that a page loads only one. */
async function load(chosen: Language): Promise<Loaded> {
  const texts: Texts = chosen === 'es' ? await import('./es/index.js') : await import('./en/index.js');
  return { language: chosen, texts, formats: createFormats(chosen, texts.common) };
}

/** Provides the texts of the chosen language. Shows nothing until the first language is loaded. */
export function TextProvider({ children }: { children: ReactNode }) {
  const chosen = useStore(language);
  const [loaded, setLoaded] = useState<Loaded>();
  useEffect(() => {
    let isLatest = true;
    void load(chosen).then((next) => {
      if (!isLatest) return;
      document.documentElement.lang = chosen;
      setLanguage(chosen);
      setLoaded(next);
    });
    return () => {
      isLatest = false;
    };
  }, [chosen]);
  if (loaded === undefined) return null;
  return <Context value={loaded}>{children}</Context>;
}

function useLoaded(): Loaded {
  const loaded = useContext(Context);
  if (loaded === undefined) throw new Error('there is no TextProvider above');
  return loaded;
}

/** The texts in the language of the operator: `useText().common.cancel`. */
export const useText = (): Texts => useLoaded().texts;

/** Formats of numbers and times in that language. */
export const useFormats = (): Formats => useLoaded().formats;
