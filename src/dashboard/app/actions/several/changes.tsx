/** Changes of several objects at once: scale, restart, cordon and uncordon. */
import { useSignal } from '@preact/signals';
import type { KubeObject } from '../../../../apimachinery/meta.ts';
import { rfc3339 } from '../../../../base/time.ts';
import { objectPath } from '../../../../client/resource-path.ts';
import { cordonPatch, restartPatch } from '../../../../views/workload-changes.ts';
import { may } from '../../cluster/access.ts';
import type { ApiKind } from '../../cluster/plan/discovery.ts';
import { requestJson } from '../../cluster/request.ts';
import { fieldsOf, mergePatch } from '../patch-object.ts';
import { restartable } from '../workload.tsx';
import type { SeveralAction } from './several-action.ts';
import { openSeveral, SeveralDialog, type SeveralDialogProps } from './several-dialog.tsx';

export const scaleSeveral: SeveralAction = {
  title: 'Scale',
  applies: (kind, { namespace = '', name = '' }) =>
    kind.subresources.includes('scale') && may('patch', kind, namespace, { name, subresource: 'scale' }),
  run: (kind, objects) => openSeveral(scaleSeveral, kind, objects, (props) => <ScaleDialog {...props} />),
};

function ScaleDialog(props: SeveralDialogProps) {
  const wanted = useSignal('1');
  const scale = async (object: KubeObject) => {
    await mergePatch(props.kind, object, { spec: { replicas: Number(wanted.value) } }, 'scale');
    return `is scaled to ${wanted.value}`;
  };
  return (
    <SeveralDialog {...props} word="Scale" work={scale}>
      <label class="stacked">
        Number of pods of each
        <input
          type="number"
          min="0"
          max="100000"
          required
          value={wanted}
          onInput={(event) => {
            wanted.value = event.currentTarget.value;
          }}
        />
      </label>
    </SeveralDialog>
  );
}

export const restartSeveral: SeveralAction = {
  title: 'Restart',
  applies: (kind, { namespace = '', name = '' }) =>
    restartable.includes(kind.key) && ['get', 'patch'].every((verb) => may(verb, kind, namespace, { name })),
  run: (kind, objects) =>
    openSeveral(restartSeveral, kind, objects, (props) => (
      <SeveralDialog {...props} word="Restart" work={(object) => restart(kind, object)}>
        <p>The pods are replaced, a few at a time:</p>
      </SeveralDialog>
    )),
};

/** Reads the object first: a row of a table does not show whether a rollout is paused. */
async function restart(kind: ApiKind, { metadata: { name, namespace } }: KubeObject): Promise<string> {
  const object = await requestJson<KubeObject>(objectPath(kind, name, namespace));
  const patch = restartPatch(fieldsOf(kind, object), rfc3339(Date.now()));
  if (typeof patch === 'string') throw new Error(patch);
  await mergePatch(kind, object, patch);
  return 'is restarted';
}

export const cordonSeveral = cordoning('Cordon', true);
export const uncordonSeveral = cordoning('Uncordon', false);

function cordoning(title: string, isCordoned: boolean): SeveralAction {
  const text = isCordoned ? 'The nodes get no new pods; their pods stay:' : 'The nodes get new pods again:';
  const action: SeveralAction = {
    title,
    applies: (kind, { name = '' }) => kind.key === 'nodes' && may('patch', kind, '', { name }),
    run: (kind, objects) =>
      openSeveral(action, kind, objects, (props) => (
        <SeveralDialog
          {...props}
          word={title}
          work={async (object) => {
            await mergePatch(kind, object, cordonPatch(isCordoned));
            return isCordoned ? 'is cordoned' : 'is uncordoned';
          }}
        >
          <p>{text}</p>
        </SeveralDialog>
      )),
  };
  return action;
}
