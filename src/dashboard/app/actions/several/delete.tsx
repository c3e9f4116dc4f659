/** Deletes several objects, after a dialog that names what is deleted with them. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { KubeObject } from '../../../../apimachinery/meta.ts';
import { may } from '../../cluster/access.ts';
import { deleteObject } from '../delete.tsx';
import { Effects, effectsOfDeletion, type FoundEffects } from '../effects.tsx';
import type { SeveralAction } from './several-action.ts';
import { countOf, openSeveral, SeveralDialog, type SeveralDialogProps } from './several-dialog.tsx';

export const deleteSeveral: SeveralAction = {
  title: 'Delete',
  isDangerous: true,
  applies: (kind, { namespace = '', name = '' }) =>
    kind.verbs.includes('delete') && may('delete', kind, namespace, { name }),
  run: (kind, objects) => openSeveral(deleteSeveral, kind, objects, (props) => <DeleteDialog {...props} />),
};

function DeleteDialog(props: SeveralDialogProps) {
  const { kind, objects } = props;
  const effects = useSignal<FoundEffects | undefined>(undefined);
  const typed = useSignal('');
  const keepsOwned = useSignal(false);
  useEffect(() => {
    void effectsOfDeletion(kind, objects).then((found) => {
      effects.value = found;
    });
  }, [kind, objects]);
  const known = effects.value;
  const wanted = countOf(kind, objects.length);
  const remove = async (object: KubeObject) => {
    await deleteObject(kind, object, keepsOwned.value);
    return 'is deleted';
  };
  return (
    <SeveralDialog
      {...props}
      word="Delete"
      isDangerous={true}
      isReady={known !== undefined && (!known.needsName || typed.value === wanted)}
      work={remove}
    >
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
          Keep them: delete the selected objects alone
        </label>
      )}
      {known?.needsName && (
        <label class="stacked">
          <span>
            Type <strong>{wanted}</strong> to continue
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
      <p>The selected objects:</p>
    </SeveralDialog>
  );
}
