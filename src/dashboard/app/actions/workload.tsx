/** Actions on workloads: scale, restart, pause and resume. */
import { useSignal } from '@preact/signals';
import { numberAt, valueAt } from '../../../apimachinery/fields.ts';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import { errorMessage } from '../../../base/log.ts';
import { rfc3339 } from '../../../base/time.ts';
import { isPaused, pausePatch, restartPatch } from '../../../views/workload-changes.ts';
import type { ApiKind } from '../cluster/plan/discovery.ts';
import { DialogEnd, notify, openDialog } from '../shell/dialog.tsx';
import type { ObjectAction } from './action.ts';
import { fieldsOf, mayPatch, mergePatch } from './patch-object.ts';

/** Keys of the kinds whose pods a restart replaces. */
export const restartable: readonly string[] = ['deployments.apps', 'statefulsets.apps', 'daemonsets.apps'];

export const scaleAction: ObjectAction = {
  title: 'Scale',
  words: 'replicas size',
  applies: (kind, object) => kind.subresources.includes('scale') && mayPatch(kind, object, 'scale'),
  run: (kind, object) =>
    openDialog({
      title: `Scale ${kind.kind} ${object.metadata.name}`,
      content: ({ close }) => <ScaleDialog kind={kind} object={object} close={close} />,
    }),
};

export const restartAction: ObjectAction = {
  title: 'Restart',
  words: 'rollout pods',
  applies: (kind, object) =>
    restartable.includes(kind.key) && mayPatch(kind, object) && !isPaused(fieldsOf(kind, object)),
  run: (kind, object) =>
    change(kind, object, restartPatch(fieldsOf(kind, object), rfc3339(Date.now())), 'is restarted'),
};

export const pauseAction: ObjectAction = {
  title: 'Pause',
  words: 'rollout stop',
  applies: (kind, object) =>
    kind.key === 'deployments.apps' && mayPatch(kind, object) && !isPaused(fieldsOf(kind, object)),
  run: (kind, object) => change(kind, object, pausePatch(fieldsOf(kind, object), true), 'is paused'),
};

export const resumeAction: ObjectAction = {
  title: 'Resume',
  words: 'rollout continue',
  applies: (kind, object) =>
    kind.key === 'deployments.apps' && mayPatch(kind, object) && isPaused(fieldsOf(kind, object)),
  run: (kind, object) => change(kind, object, pausePatch(fieldsOf(kind, object), false), 'is resumed'),
};

/** Sends a patch, or throws the reason why there is none. */
async function change(
  kind: ApiKind,
  object: KubeObject,
  patch: ReturnType<typeof restartPatch>,
  done: string,
): Promise<void> {
  const name = `${kind.kind} ${object.metadata.name}`;
  if (typeof patch === 'string') throw new Error(`${name} ${patch}`);
  await mergePatch(kind, object, patch);
  notify(`${name} ${done}.`);
}

interface Props {
  readonly kind: ApiKind;
  readonly object: KubeObject;
  readonly close: () => void;
}

function ScaleDialog({ kind, object, close }: Props) {
  const fields = fieldsOf(kind, object);
  const present =
    typeof valueAt(fields, 'spec', 'replicas') === 'number' ? numberAt(fields, 'spec', 'replicas') : 1;
  const wanted = useSignal(String(present));
  const failure = useSignal('');
  const scale = async () => {
    try {
      await mergePatch(kind, object, { spec: { replicas: Number(wanted.value) } }, 'scale');
      notify(`${kind.kind} ${object.metadata.name} is scaled to ${wanted.value}.`);
      close();
    } catch (error) {
      failure.value = errorMessage(error);
    }
  };
  const step = (by: number) => {
    wanted.value = String(Math.max(0, Number(wanted.value) + by));
  };
  return (
    <form
      method="dialog"
      onSubmit={(event) => {
        event.preventDefault();
        void scale();
      }}
    >
      <div class="stepper">
        <button type="button" aria-label="One pod fewer" onClick={() => step(-1)}>
          −
        </button>
        <label>
          <span class="hidden-label">Number of pods</span>
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
        <button type="button" aria-label="One pod more" onClick={() => step(1)}>
          +
        </button>
        <span class="faint">now {present}</span>
      </div>
      <DialogEnd failure={failure.value} close={close}>
        <button type="submit" class="primary">
          Scale
        </button>
      </DialogEnd>
    </form>
  );
}
