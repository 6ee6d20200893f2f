import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { NewPublication } from '../../api/schema.js';
import { Page } from '../../components/panel/panel.js';
import { toast } from '../../components/toast/toasts.js';
import { useDraft } from '../../lib/drafts.js';
import { useText } from '../../text/text.js';
import { Compose } from './compose.js';
import { emptyPublication, type PublicationForm } from './form.js';
import { createPublication, publicationQuery, publicationsKey } from './queries.js';

/** Writes a publication. */
export function NewPublicationPage() {
  const { publications: text } = useText();
  const { topic } = useSearch({ from: '/publications/new' });
  const navigate = useNavigate({ from: '/publications/new' });
  const client = useQueryClient();
  const [draft, setForm, forget] = useDraft<PublicationForm>('publication-form', emptyPublication());
  const form = { ...emptyPublication(), ...draft };
  /** The key of a request whose answer was lost: the same body is published once. */
  const sent = useRef<{ readonly body: string; readonly key: string }>(undefined);
  const set = useRef(setForm);
  set.current = setForm;
  useEffect(() => {
    if (topic === undefined) return;
    set.current((before) => ({ ...before, mode: 'topic', topic }));
    void navigate({ search: {}, replace: true });
  }, [topic, navigate]);
  const create = useMutation({
    mutationFn(body: NewPublication) {
      const text = JSON.stringify(body);
      if (sent.current?.body !== text) sent.current = { body: text, key: crypto.randomUUID() };
      return createPublication(body, sent.current.key);
    },
    async onSuccess(created) {
      const { id } = created.publication;
      forget();
      toast.done(text.created);
      client.setQueryData(publicationQuery(id).queryKey, created);
      await navigate({ to: '/publications/$id', params: { id } });
      await client.invalidateQueries({ queryKey: publicationsKey });
    },
  });
  return (
    <Page title={text.newTitle} breadcrumbs={<Link to="/publications">{text.title}</Link>}>
      <Compose
        form={form}
        onChange={(change) => {
          setForm((before) => ({ ...before, ...change }));
          create.reset();
        }}
        onSave={(body) => create.mutate(body as NewPublication)}
        isSaving={create.isPending}
        error={create.error}
        onDiscard={() => {
          forget();
          create.reset();
        }}
      />
    </Page>
  );
}
