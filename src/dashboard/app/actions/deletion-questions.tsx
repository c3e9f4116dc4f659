/** Questions of the dialogs that delete one object or several. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import type { ApiKind } from '../cluster/plan/discovery.ts';
import { Effects, effectsOfDeletion, type FoundEffects } from './effects.tsx';

interface Deletion {
  readonly questions: ComponentChildren;
  /** True if the user may delete now: what is deleted too is known, and confirmed where that is required. */
  readonly isReady: boolean;
  /** True if the user keeps the objects that would be deleted too. */
  readonly keepsOwned: boolean;
}

interface Words {
  /** Text that the user types to confirm a deletion of much data. */
  readonly confirmation: string;
  /** Words for what is deleted if the others are kept, such as `this object alone`. */
  readonly alone: string;
}

/** Returns the questions about the objects, and the answers so far. */
export function useDeletion(kind: ApiKind, objects: readonly KubeObject[], words: Words): Deletion {
  const effects = useSignal<FoundEffects | undefined>(undefined);
  const typed = useSignal('');
  const keepsOwned = useSignal(false);
  useEffect(() => {
    void effectsOfDeletion(kind, objects).then((found) => {
      effects.value = found;
    });
  }, [kind, objects]);
  const known = effects.value;
  const questions = (
    <>
      <Effects found={known} areOrphans={keepsOwned.value} />
      {known !== undefined && known.gone.length > 0 && !known.needsName && (
        <label class="choice">
          <input
            type="checkbox"
            checked={keepsOwned}
            onChange={(event) => {
              keepsOwned.value = event.currentTarget.checked;
            }}
          />
          Keep them: delete {words.alone}
        </label>
      )}
      {known?.needsName && (
        <label class="stacked">
          <span>
            Type <strong>{words.confirmation}</strong> to continue
          </span>
          <input
            value={typed}
            autocomplete="off"
            onInput={(event) => {
              typed.value = event.currentTarget.value;
            }}
          />
        </label>
      )}
    </>
  );
  const isReady = known !== undefined && (!known.needsName || typed.value === words.confirmation);
  return { questions, isReady, keepsOwned: keepsOwned.value };
}
