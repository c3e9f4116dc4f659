/** A workflow as a graph, its last runs, and a form that starts one. */
import { useSignal } from '@preact/signals';
import { ageSince } from '../../../../apimachinery/age.ts';
import type { JsonObject } from '../../../../apimachinery/equality.ts';
import { metadataOf, textAt, valueAt } from '../../../../apimachinery/fields.ts';
import { errorMessage } from '../../../../base/log.ts';
import { collectionPath } from '../../../../client/resource-path.ts';
import { fieldsOf } from '../../actions/patch-object.ts';
import { may } from '../../cluster/access.ts';
import { kindsByKey } from '../../cluster/kinds.ts';
import { sendJson } from '../../cluster/request.ts';
import { seen } from '../../cluster/seen.ts';
import type { TabProps } from '../../object/tab.ts';
import { DialogEnd, openDialog } from '../../shell/dialog.tsx';
import { objectHref } from '../../shell/plan/addresses.ts';
import { navigate } from '../../shell/router.ts';
import { now } from '../../shell/screen.ts';
import { WorkflowPicture } from './picture.tsx';
import { phaseHealth } from './run-tab.tsx';

export const runsKey = 'workflowruns.minik8s.io';

export function GraphTab({ kind, object }: TabProps) {
  const { name, namespace = '' } = object.metadata;
  const workflow = fieldsOf(kind, object);
  const runs = seen(runsKey, { namespace, fields: `spec.workflow=${name}` });
  const runKind = kindsByKey.value.get(runsKey);
  const mayRun = runKind !== undefined && may('create', runKind, namespace);
  const start = () =>
    openDialog({
      title: `Run ${name}`,
      content: ({ close }) => <RunDialog workflow={name} namespace={namespace} close={close} />,
    });
  return (
    <div class="columns run">
      <section class="panel" aria-label="Graph">
        <WorkflowPicture definition={valueAt(workflow, 'spec', 'definition')} />
      </section>
      <section class="panel" aria-label="Runs">
        <div class="head">
          <h2>Runs</h2>
          <span class="grow" />
          {mayRun && (
            <button type="button" class="primary" onClick={start}>
              Run
            </button>
          )}
        </div>
        <RunList runs={runs.items} />
      </section>
    </div>
  );
}

const shownRuns = 50;

export function RunList({ runs }: { readonly runs: readonly JsonObject[] }) {
  const created = (run: JsonObject) => metadataOf(run).creationTimestamp ?? '';
  const newest = runs.toSorted((a, b) => (created(a) < created(b) ? 1 : -1)).slice(0, shownRuns);
  if (newest.length === 0) return <p class="faint">No runs.</p>;
  return (
    <ul class="run-list">
      {newest.map((run) => {
        const { namespace, name } = metadataOf(run);
        const phase = textAt(run, 'status', 'phase') || 'Pending';
        const current = (valueAt(run, 'status', 'currentStates') as readonly string[] | undefined) ?? [];
        return (
          <li key={name}>
            <span class={`chip ${phaseHealth(phase)}`}>{phase}</span>
            <a href={objectHref(runsKey, namespace, name, 'run')}>{name}</a>
            <span class="faint">{current.join(', ') || textAt(run, 'status', 'error')}</span>
            <span class="grow" />
            <span class="faint nowrap">{ageSince(created(run), now.value)}</span>
          </li>
        );
      })}
    </ul>
  );
}

interface DialogProps {
  readonly workflow: string;
  readonly namespace: string;
  readonly close: () => void;
}

function RunDialog({ workflow, namespace, close }: DialogProps) {
  const input = useSignal('{}');
  const failure = useSignal('');
  const run = async () => {
    const kind = kindsByKey.value.get(runsKey);
    if (!kind) return;
    try {
      const made = await sendJson<JsonObject>('POST', collectionPath(kind, namespace), {
        apiVersion: 'minik8s.io/v1',
        kind: 'WorkflowRun',
        metadata: { generateName: `${workflow}-` },
        spec: { workflow, input: JSON.parse(input.value) as unknown },
      });
      close();
      navigate(objectHref(runsKey, namespace, metadataOf(made).name, 'run'));
    } catch (error) {
      failure.value = errorMessage(error);
    }
  };
  return (
    <form
      method="dialog"
      class="call-form"
      onSubmit={(event) => {
        event.preventDefault();
        void run();
      }}
    >
      <label for="run-input">Input as JSON</label>
      <textarea
        id="run-input"
        class="mono"
        rows={8}
        spellcheck={false}
        value={input}
        onInput={(event) => {
          input.value = event.currentTarget.value;
        }}
      />
      <DialogEnd failure={failure.value} close={close}>
        <button type="submit" class="primary">
          Run
        </button>
      </DialogEnd>
    </form>
  );
}
