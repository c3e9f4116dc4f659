/** A run of a workflow: its state and its data on the graph. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { JsonObject } from '../../../../apimachinery/equality.ts';
import { metadataOf, recordsAt, textAt, valueAt } from '../../../../apimachinery/fields.ts';
import { goDuration } from '../../../../base/time.ts';
import { fieldsOf } from '../../actions/patch-object.ts';
import { requestJson } from '../../cluster/request.ts';
import { seen } from '../../cluster/seen.ts';
import type { TabProps } from '../../object/tab.ts';
import { objectHref } from '../../shell/plan/addresses.ts';
import { scrollable } from '../../shell/scrollable.ts';
import { prettyJson } from '../functions/plan/function-state.ts';
import { WorkflowPicture } from './picture.tsx';
import { type RunState, runStates } from './plan/run-states.ts';

export const workflowsKey = 'workflows.minik8s.io';
const phases: Readonly<Record<string, string>> = {
  Succeeded: 'good',
  Running: 'waiting',
  Pending: 'waiting',
};
export const phaseHealth = (phase: string): string => phases[phase] ?? 'bad';

export function RunTab({ kind, object }: TabProps) {
  const run = fieldsOf(kind, object);
  const { namespace, uid } = metadataOf(run);
  const workflow = textAt(run, 'spec', 'workflow');
  const definition = useDefinition(run);
  const kept = seen('workflowhistories.minik8s.io', { namespace }).items;
  const phase = textAt(run, 'status', 'phase') || 'Pending';
  const states = useMemo(() => {
    const earlier = kept.filter((one) =>
      recordsAt(one, 'metadata', 'ownerReferences').some((owner) => owner.uid === uid),
    );
    const entries = [
      ...earlier.flatMap((one) => recordsAt(one, 'spec', 'entries')),
      ...recordsAt(run, 'status', 'history'),
    ];
    return runStates(entries, phase);
  }, [kept, object]);
  const chosen = useSignal('');
  const failure = [textAt(run, 'status', 'error'), textAt(run, 'status', 'cause')].filter(Boolean).join(': ');
  return (
    <div class="columns run">
      <section class="panel" aria-label="Graph">
        <p>
          <span class={`chip ${phaseHealth(phase)}`}>{phase}</span>{' '}
          <a href={objectHref(workflowsKey, namespace, workflow, 'graph')}>{workflow}</a>{' '}
          <span class="faint">{durationText(run)}</span>
        </p>
        {failure !== '' && <p class="notice bad">{failure}</p>}
        {definition !== undefined && (
          <WorkflowPicture
            definition={definition}
            states={states}
            chosen={chosen.value}
            choose={(state) => {
              chosen.value = chosen.value === state ? '' : state;
            }}
          />
        )}
      </section>
      <section class="panel" aria-label="Data" aria-live="polite">
        {chosen.value === '' ? (
          <>
            <h2>The run</h2>
            <Data title="Input" text={jsonText(valueAt(run, 'spec', 'input'))} />
            <Data title="Output" text={jsonText(valueAt(run, 'status', 'output'))} />
            <p class="faint">Choose a state to see its data.</p>
          </>
        ) : (
          <StateData name={chosen.value} state={states.get(chosen.value)} />
        )}
      </section>
    </div>
  );
}

/** Returns the definition with which the run began, or that of the workflow as it is now. */
function useDefinition(run: JsonObject): unknown {
  const found = useSignal<unknown>(undefined);
  const { namespace } = metadataOf(run);
  const revision = textAt(run, 'status', 'definition');
  const workflow = textAt(run, 'spec', 'workflow');
  useEffect(() => {
    const place = `/namespaces/${encodeURIComponent(namespace)}`;
    const read = async () => {
      if (revision !== '') {
        const path = `/apis/apps/v1${place}/controllerrevisions/${encodeURIComponent(revision)}`;
        return valueAt(await requestJson<JsonObject>(path), 'data');
      }
      throw new Error('the run has not begun');
    };
    const present = async () =>
      valueAt(
        await requestJson<JsonObject>(
          `/apis/minik8s.io/v1${place}/workflows/${encodeURIComponent(workflow)}`,
        ),
        'spec',
        'definition',
      );
    read()
      .catch(present)
      .then(
        (definition) => {
          found.value = definition;
        },
        // A user who may read neither sees the run without its graph.
        () => undefined,
      );
  }, [namespace, revision, workflow]);
  return found.value;
}

function StateData({ name, state }: { readonly name: string; readonly state: RunState | undefined }) {
  if (!state)
    return (
      <>
        <h2>{name}</h2>
        <p class="faint">The run has not reached this state.</p>
      </>
    );
  const { outcome, entered, beganMs, endedMs, failure, input, output } = state;
  return (
    <>
      <h2>{name}</h2>
      <p class="faint">
        {outcome}, entered {entered === 1 ? 'once' : `${entered} times`}
        {endedMs !== undefined && `, ${shortDuration(endedMs - beganMs)}`}
      </p>
      {failure !== '' && <p class="notice bad">{failure}</p>}
      <Data title={entered > 1 ? 'Input of the last entry' : 'Input'} text={prettyJson(input)} />
      <Data title={entered > 1 ? 'Output of the last exit' : 'Output'} text={prettyJson(output)} />
    </>
  );
}

const Data = ({ title, text }: { readonly title: string; readonly text: string }) =>
  text === '' ? null : (
    <>
      <h3>{title}</h3>
      <pre class="data" {...scrollable}>
        {text}
      </pre>
    </>
  );

const jsonText = (value: unknown): string => (value === undefined ? '' : JSON.stringify(value, null, 2));
const shortDuration = (ms: number) => (ms < 1000 ? `${Math.max(0, Math.round(ms))}ms` : goDuration(ms));

function durationText(run: JsonObject): string {
  const [begun, ended] = ['startTime', 'completionTime'].map((field) =>
    Date.parse(textAt(run, 'status', field)),
  );
  if (begun === undefined || Number.isNaN(begun)) return '';
  if (ended === undefined || Number.isNaN(ended)) return `since ${new Date(begun).toLocaleTimeString('sv')}`;
  return `took ${shortDuration(ended - begun)}`;
}
