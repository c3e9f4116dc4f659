/** Deletes several objects, after a dialog that names what is deleted with them. */
import type { KubeObject } from '../../../../apimachinery/meta.ts';
import { may } from '../../cluster/access.ts';
import { deleteObject } from '../delete.tsx';
import { useDeletion } from '../deletion-questions.tsx';
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
  const words = { confirmation: countOf(kind, objects.length), alone: 'the selected objects alone' };
  const { questions, isReady, keepsOwned } = useDeletion(kind, objects, words);
  const remove = async (object: KubeObject) => {
    await deleteObject(kind, object, keepsOwned);
    return 'is deleted';
  };
  return (
    <SeveralDialog {...props} word="Delete" isDangerous={true} isReady={isReady} work={remove}>
      {questions}
      <p>The selected objects:</p>
    </SeveralDialog>
  );
}
