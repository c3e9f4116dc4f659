/** Deletes an object, after a dialog that names what is deleted with it. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import { errorMessage } from '../../../base/log.ts';
import { objectPath } from '../../../client/resource-path.ts';
import { may } from '../cluster/access.ts';
import type { ApiKind } from '../cluster/plan/discovery.ts';
import { sendJson } from '../cluster/request.ts';
import { DialogEnd, notify, openDialog } from '../shell/dialog.tsx';
import type { ObjectAction } from './action.ts';
import { Effects, effectsOfDeletion, type FoundEffects } from './effects.tsx';

export const deleteAction: ObjectAction = {
  title: 'Delete',
  words: 'remove',
  isDangerous: true,
  applies: (kind, { metadata }) =>
    kind.verbs.includes('delete') && may('delete', kind, metadata.namespace ?? '', { name: metadata.name }),
  run: (kind, object) =>
    openDialog({
      title: `Delete ${kind.kind} ${object.metadata.name}`,
      content: ({ close }) => <DeleteDialog kind={kind} object={object} close={close} />,
    }),
};

/** Deletes the very object, not a newer one of its name; `keepsOwned` keeps the objects that it owns. */
export async function deleteObject(
  kind: ApiKind,
  { metadata: { name, namespace, uid } }: KubeObject,
  keepsOwned: boolean,
): Promise<void> {
  await sendJson('DELETE', objectPath(kind, name, namespace), {
    ...{ apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } },
    propagationPolicy: keepsOwned ? 'Orphan' : 'Background',
  });
}

interface Props {
  readonly kind: ApiKind;
  readonly object: KubeObject;
  readonly close: () => void;
}

function DeleteDialog({ kind, object, close }: Props) {
  const effects = useSignal<FoundEffects | undefined>(undefined);
  const typed = useSignal('');
  const orphans = useSignal(false);
  const failure = useSignal('');
  const { name } = object.metadata;
  useEffect(() => {
    void effectsOfDeletion(kind, [object]).then((found) => {
      effects.value = found;
    });
  }, [kind, object]);
  const known = effects.value;
  const remove = async () => {
    try {
      await deleteObject(kind, object, orphans.value);
      notify(`${kind.kind} ${name} is deleted.`);
      close();
    } catch (error) {
      failure.value = errorMessage(error);
    }
  };
  return (
    <form
      method="dialog"
      onSubmit={(event) => {
        event.preventDefault();
        void remove();
      }}
    >
      <Effects found={known} areOrphans={orphans.value} />
      {known !== undefined && known.gone.length > 0 && !known.needsName && (
        <label class="choice">
          <input
            type="checkbox"
            checked={orphans}
            onChange={(event) => {
              orphans.value = event.currentTarget.checked;
            }}
          />
          Keep them: delete this object alone
        </label>
      )}
      {known?.needsName && (
        <label class="stacked">
          Type <strong>{name}</strong> to continue
          <input
            value={typed}
            autocomplete="off"
            onInput={(event) => {
              typed.value = event.currentTarget.value;
            }}
          />
        </label>
      )}
      <DialogEnd failure={failure.value} close={close}>
        <button
          type="submit"
          class="danger"
          disabled={known === undefined || (known.needsName && typed.value !== name)}
        >
          Delete
        </button>
      </DialogEnd>
    </form>
  );
}
