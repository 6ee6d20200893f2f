import { queryOptions } from '@tanstack/react-query';
import { request, send } from '../../api/client.js';
import type {
  Category,
  CategoryChanges,
  CategoryInput,
  GetCategoryData,
  PutCategoryData,
  StepChannel,
} from '../../api/schema.js';
import type { Language } from '../../lib/preferences.js';

/** All queries of categories begin with this key, so that a change can read them again. */
export const categoriesKey = ['categories'] as const;

/** All categories, and the tag of this state, for a conditional replacement. */
export interface CategorySet {
  readonly all: readonly Category[];
  readonly tag: string | null;
}

export async function readCategories({ signal }: { readonly signal: AbortSignal }): Promise<CategorySet> {
  const response = await send('GET', '/admin/v1/categories', { signal });
  return { all: (await response.json()) as readonly Category[], tag: response.headers.get('ETag') };
}

export const categoriesQuery = queryOptions({ queryKey: [...categoriesKey, 'all'], queryFn: readCategories });

export const categoryQuery = (name: string) =>
  queryOptions({
    queryKey: [...categoriesKey, 'one', name],
    queryFn: ({ signal }) =>
      request<GetCategoryData, Category>('GET', '/admin/v1/categories/{name}', { path: { name }, signal }),
  });

export const putCategory = (name: string, body: CategoryInput) =>
  request<PutCategoryData, Category>('PUT', '/admin/v1/categories/{name}', { path: { name }, body });

/** Replaces all categories, or says what would change. @param tag the state that the set was made from */
export async function replaceCategories(
  body: unknown,
  { isDryRun, tag }: { readonly isDryRun: boolean; readonly tag: string | null },
): Promise<CategoryChanges> {
  const response = await send('PUT', '/admin/v1/categories', {
    body,
    ...(isDryRun && { query: { dry_run: true } }),
    ...(tag !== null && { headers: { 'If-Match': tag } }),
  });
  return (await response.json()) as CategoryChanges;
}

export const channels = ['push', 'email', 'sms'] as const satisfies readonly StepChannel[];

/** The title in the language of the console, else in English, else the name. */
export const titleOf = ({ name, title }: Category, language: Language): string => title[language] ?? title.en ?? name;
