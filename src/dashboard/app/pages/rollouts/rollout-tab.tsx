/** A rollout as it happens: the pods of each revision, and the way back. */
import { useSignal } from '@preact/signals';
import type { JsonObject } from '../../../../apimachinery/equality.ts';
import { patchTypes } from '../../../../apimachinery/patch.ts';
import { errorMessage } from '../../../../base/log.ts';
import { objectPath } from '../../../../client/resource-path.ts';
import { isTemplateOf, patchTo, revisionKeeper } from '../../../../views/revisions.ts';
import { fieldsOf, mayPatch } from '../../actions/patch-object.ts';
import { sendJson } from '../../cluster/request.ts';
import { seen } from '../../cluster/seen.ts';
import type { TabProps } from '../../object/tab.ts';
import { DialogEnd, notify, openDialog } from '../../shell/dialog.tsx';
import { objectHref } from '../../shell/plan/addresses.ts';
import { type PodTile, type RevisionView, rolloutView } from './plan/rollout-view.ts';
import { Progress } from './progress.tsx';

export function RolloutTab({ kind, object }: TabProps) {
  const { namespace = '' } = object.metadata;
  const workload = fieldsOf(kind, object);
  const keeper = seen(revisionKeeper(kind.kind) ?? '', { namespace });
  const pods = seen('pods', { namespace });
  const view = rolloutView(workload, keeper.items, pods.items);
  const mayUndo = mayPatch(kind, object) && !view.isPaused;
  const back = (revision: RevisionView) => () => askBack({ kind, object }, workload, revision);
  return (
    <section class="stack" aria-label="Rollout">
      <div class="panel">
        <Progress view={view} />
      </div>
      {view.revisions.map((one) => (
        <Revision
          key={String(one.revision.number)}
          of={one}
          namespace={namespace}
          {...(mayUndo && !isTemplateOf(workload, one.revision) && { goBack: back(one) })}
        />
      ))}
      {view.others.length > 0 && (
        <section class="panel">
          <h2>Pods of no known revision</h2>
          <Tiles pods={view.others} namespace={namespace} />
        </section>
      )}
      {keeper.refused && <p class="faint">You may not list the revisions of this workload.</p>}
    </section>
  );
}

interface RevisionProps {
  readonly of: RevisionView;
  readonly namespace: string;
  readonly goBack?: () => void;
}

function Revision({ of: { isPresent, images, pods, revision }, namespace, goBack }: RevisionProps) {
  if (pods.length === 0 && !isPresent && !goBack) return null;
  return (
    <section class={isPresent ? 'panel revision present' : 'panel revision'}>
      <header>
        <h2>
          Revision {String(revision.number)} {isPresent && <span class="chip">present</span>}
        </h2>
        <code>{[...new Set(images)].join(', ')}</code>
        {revision.cause !== '<none>' && <span class="faint">{revision.cause}</span>}
        <span class="grow" />
        <span class="faint">
          {pods.length} {pods.length === 1 ? 'pod' : 'pods'}
        </span>
        {goBack && (
          <button type="button" onClick={goBack}>
            Roll back to it
          </button>
        )}
      </header>
      <Tiles pods={pods} namespace={namespace} />
    </section>
  );
}

export const Tiles = ({
  pods,
  namespace,
}: {
  readonly pods: readonly PodTile[];
  readonly namespace: string;
}) => (
  <ul class="pod-tiles">
    {pods.map(({ name, node, phase, health }) => (
      <li key={name}>
        <a
          class={`pod-tile ${health}`}
          href={objectHref('pods', namespace, name)}
          title={`${name} on ${node || 'no node'}`}
        >
          <span class="pod-name">{name}</span>
          <span>
            {phase} <span class="faint">{node}</span>
          </span>
        </a>
      </li>
    ))}
  </ul>
);

function askBack(tab: TabProps, workload: JsonObject, view: RevisionView): void {
  openDialog({
    title: `Roll ${tab.object.metadata.name} back to revision ${view.revision.number}`,
    content: ({ close }) => <BackDialog tab={tab} workload={workload} view={view} close={close} />,
  });
}

interface BackProps {
  readonly tab: TabProps;
  readonly workload: JsonObject;
  readonly view: RevisionView;
  readonly close: () => void;
}

function BackDialog({ tab: { kind, object }, workload, view: { revision, images }, close }: BackProps) {
  const failure = useSignal('');
  const { name, namespace } = object.metadata;
  const send = async () => {
    try {
      const path = objectPath(kind, name, namespace);
      await sendJson('PATCH', path, patchTo(workload, revision), patchTypes.json);
      notify(`${kind.kind} ${name} is rolled back to revision ${revision.number}.`);
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
        void send();
      }}
    >
      <p>
        New pods with <code>{images.join(', ')}</code> replace those of the present revision, a few at a time.
      </p>
      <DialogEnd failure={failure.value} close={close}>
        <button type="submit" class="primary">
          Roll back
        </button>
      </DialogEnd>
    </form>
  );
}
