/** Sets and removes labels of several objects. */
import { useSignal } from '@preact/signals';
import type { KubeObject } from '../../../../apimachinery/meta.ts';
import { may } from '../../cluster/access.ts';
import { mergePatch } from '../patch-object.ts';
import { labelChanges, labelChangesText } from '../plan/label-changes.ts';
import type { SeveralAction } from './several-action.ts';
import { openSeveral, SeveralDialog, type SeveralDialogProps } from './several-dialog.tsx';

export const labelSeveral: SeveralAction = {
  title: 'Label',
  applies: (kind, { namespace = '', name = '' }) =>
    kind.verbs.includes('patch') && may('patch', kind, namespace, { name }),
  run: (kind, objects) => openSeveral(labelSeveral, kind, objects, (props) => <LabelDialog {...props} />),
};

function LabelDialog(props: SeveralDialogProps) {
  const text = useSignal('');
  const label = async (object: KubeObject) => {
    const changes = labelChanges(text.value);
    if (typeof changes === 'string') throw new Error(changes);
    await mergePatch(props.kind, object, { metadata: { labels: changes } });
    return labelChangesText(changes);
  };
  const check = () => {
    const changes = labelChanges(text.value);
    return typeof changes === 'string' ? changes : undefined;
  };
  return (
    <SeveralDialog {...props} word="Label" check={check} work={label}>
      <label class="stacked">
        Labels: KEY=VALUE to set one, KEY- to remove one
        <input
          value={text}
          placeholder="tier=front old-"
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => {
            text.value = event.currentTarget.value;
          }}
        />
      </label>
    </SeveralDialog>
  );
}
