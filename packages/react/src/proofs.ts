import { type AccountOperation, enableStepUp, type ProofFor, type ProofRequest, type Prover } from '@postern/client';
import { UsageError } from '@postern/client/internal';
import {
  createContext,
  createElement,
  Fragment,
  type ReactNode,
  useContext,
  useEffect,
  useMemo,
  useState,
} from 'react';
import { ScopeContext } from './context.js';

/** What your dialog gets. */
export interface ProofDialogProps<O extends AccountOperation = AccountOperation> {
  /** The operation, the proofs that the user can give, and why the user is asked again. */
  readonly request: ProofRequest<O>;
  readonly answer: (proof: ProofFor<O>) => void;
  /** The user refuses: the operation rejects with a CancelledError. */
  readonly cancel: () => void;
}

export interface ProofProviderProps {
  /** A component that is shown while an operation waits for a proof. */
  readonly dialog: (props: ProofDialogProps) => ReactNode;
  readonly children?: ReactNode;
}

const ProverContext = /* @__PURE__ */ createContext<Prover>(() =>
  Promise.reject(new UsageError('This operation needs a proof: put a <ProofProvider> above its component.')),
);

/**
 * Shows your dialog when an operation below it needs a proof of who the user is. Several operations get their dialogs one
 * after the other. Below a `PosternProvider`, it also shows the dialog if your API answers 401 to `postern.fetch` because it wants a
 * fresh proof (see `enableStepUp` of the client). Then the request is repeated.
 *
 * @example
 * ```tsx
 * import { type ProofDialogProps, ProofProvider, useAccount } from '@postern/react';
 *
 * function AskPassword({ request, answer, cancel }: ProofDialogProps) {
 *   const choice = request.choices.find(({ type }) => type === 'password');
 *   const submit = (form: FormData) => {
 *     if (choice?.type === 'password') answer(choice.prove(`${form.get('password')}`));
 *   };
 *   return (
 *     <form action={submit} role="dialog" aria-label="Your password, please">
 *       <p role="alert">{request.problem?.detail}</p>
 *       <input name="password" type="password" />
 *       <button>Go on</button>
 *       <button type="button" onClick={cancel}>Cancel</button>
 *     </form>
 *   );
 * }
 *
 * function RemovePin() {
 *   const { client } = useAccount();
 *   return <button onClick={() => client.removePin()}>Remove the PIN</button>;
 * }
 *
 * export const Settings = () => (
 *   <ProofProvider dialog={AskPassword}>
 *     <RemovePin />
 *   </ProofProvider>
 * );
 * ```
 */
export function ProofProvider({ dialog, children }: ProofProviderProps): ReactNode {
  const [openRequests, setOpenRequests] = useState<readonly (ProofDialogProps & { readonly key: number })[]>([]);
  const prover = useMemo(() => {
    const cancels = new Set<() => void>();
    let count = 0;
    const prove: Prover = (request) =>
      new Promise((resolve) => {
        count += 1;
        const key = count;
        const close = (proof: ProofFor<AccountOperation> | null) => {
          cancels.delete(cancel);
          setOpenRequests((all) => all.filter((request) => request.key !== key));
          resolve(proof);
        };
        const cancel = () => close(null);
        cancels.add(cancel);
        setOpenRequests((all) => [...all, { key, request, answer: close, cancel }]);
        // Another tab has proven it.
        request.signal?.addEventListener('abort', cancel);
      });
    return { cancels, prove };
  }, []);
  const postern = useContext(ScopeContext)?.postern;
  useEffect(() => {
    const { cancels } = prover;
    const end = postern && enableStepUp(postern, prover);
    return () => {
      end?.();
      // The dialog is gone, so no proof can come.
      for (const cancel of cancels) cancel();
    };
  }, [prover, postern]);
  const [first] = openRequests;
  return createElement(
    Fragment,
    null,
    createElement(ProverContext.Provider, { value: prover.prove }, children),
    first && createElement(dialog, first),
  );
}

/**
 * Asks the dialog of the nearest `ProofProvider`, for an account client of your own.
 *
 * @example
 * ```tsx
 * import { createAccount } from '@postern/client';
 * import { usePostern, useProver } from '@postern/react';
 *
 * export function DeleteAccount() {
 *   const [postern, prove] = [usePostern(), useProver()];
 *   return <button onClick={() => createAccount(postern, { prove }).deleteAccount()}>Delete my account</button>;
 * }
 * ```
 */
export function useProver(): Prover {
  return useContext(ProverContext);
}
