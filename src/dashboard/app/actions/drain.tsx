/** Drains a node, after a dialog that names what happens to each of its pods. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { JsonObject } from '../../../apimachinery/equality.ts';
import { metadataOf } from '../../../apimachinery/fields.ts';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import { isNotFound, isTooManyRequests, StatusError } from '../../../apimachinery/status-error.ts';
import { errorMessage } from '../../../base/log.ts';
import { cordonPatch } from '../../../views/workload-changes.ts';
import type { ApiKind } from '../cluster/plan/discovery.ts';
import { sendJson } from '../cluster/request.ts';
import { seen } from '../cluster/seen.ts';
import { type DrainedPod, drainView } from '../pages/nodes/plan/drain-view.ts';
import { DialogEnd } from '../shell/dialog.tsx';
import { scrollable } from '../shell/scrollable.ts';
import { mergePatch } from './patch-object.ts';

interface Props {
  readonly kind: ApiKind;
  readonly object: KubeObject;
  readonly close: () => void;
}

/** Time after which an eviction that a disruption budget does not allow yet is tried again. */
const againMs = 5_000;

type Progress = ReadonlyMap<string, string>;

const placeOf = ({ namespace, name }: { readonly namespace: string; readonly name: string }) =>
  `${namespace}/${name}`;

export function DrainDialog({ kind, object, close }: Props) {
  const node = object.metadata.name;
  const pods = seen('pods', { fields: `spec.nodeName=${node}` });
  const budgets = seen('poddisruptionbudgets.policy');
  const force = useSignal(false);
  const loseData = useSignal(false);
  const isRunning = useSignal(false);
  const failure = useSignal('');
  const progress = useSignal<Progress>(new Map());
  const abort = useMemo(() => new AbortController(), []);
  useEffect(() => () => abort.abort(), [abort]);
  const view = drainView(pods.items, budgets.items, {
    force: force.value,
    deleteEmptyDirData: loseData.value,
  });
  const moving = view.pods.filter(({ fate }) => fate !== 'stays');
  const report = (pod: string, text: string) => {
    progress.value = new Map(progress.value).set(pod, text);
  };
  const drain = async () => {
    isRunning.value = true;
    try {
      await mergePatch(kind, object, cordonPatch(true));
      await Promise.all(view.evicted.map((pod) => evict(pod, abort.signal, report)));
    } catch (error) {
      failure.value = errorMessage(error);
    }
  };
  const isDone = isRunning.value && pods.synced && moving.length === 0;
  return (
    <form
      method="dialog"
      onSubmit={(event) => {
        event.preventDefault();
        void drain();
      }}
    >
      <p>
        {isDone
          ? 'The node is drained: only the pods below are left on it.'
          : `The node gets no new pods. ${moving.length} of its ${view.pods.length} pods leave it:`}
      </p>
      <Fates pods={view.pods} progress={progress.value} />
      {!isRunning.value && (
        <div class="stacked">
          <Choice signal={loseData} text="Delete the data of emptyDir volumes" />
          <Choice signal={force} text="End pods that no controller replaces" />
        </div>
      )}
      {view.refusals.length > 0 && !isRunning.value && (
        <p class="notice">The other pods stay. The node is empty only with the choices above.</p>
      )}
      <DialogEnd
        failure={failure.value}
        close={close}
        closeWord={isDone ? 'Close' : isRunning.value ? 'Stop' : 'Cancel'}
      >
        {!isRunning.value && (
          <button type="submit" class="danger" disabled={!pods.synced}>
            Drain
          </button>
        )}
      </DialogEnd>
    </form>
  );
}

interface ChoiceProps {
  readonly signal: { value: boolean };
  readonly text: string;
}

const Choice = ({ signal, text }: ChoiceProps) => (
  <label class="choice">
    <input
      type="checkbox"
      checked={signal.value}
      onChange={(event) => {
        signal.value = event.currentTarget.checked;
      }}
    />
    {text}
  </label>
);

const fateHealth = { moves: 'good', ends: 'bad', stays: 'neutral' } as const;

const Fates = ({ pods, progress }: { readonly pods: readonly DrainedPod[]; readonly progress: Progress }) => (
  <ul class="names fates" {...scrollable}>
    {pods.map((pod) => (
      <li key={placeOf(pod)}>
        <span class={`chip ${fateHealth[pod.fate]}`}>{pod.fate}</span>
        <span>
          {placeOf(pod)}
          <span class="faint"> {progress.get(placeOf(pod)) ?? pod.note}</span>
        </span>
      </li>
    ))}
  </ul>
);

/** Evicts one pod; tries again while a disruption budget does not allow it. Rejects with other failures. */
async function evict(
  pod: JsonObject,
  signal: AbortSignal,
  report: (pod: string, text: string) => void,
): Promise<void> {
  const place = placeOf(metadataOf(pod));
  while (!signal.aborted) {
    const delay = await requestEviction(pod);
    report(place, delay ?? 'is being ended');
    if (delay === undefined) return;
    await new Promise((resolve) => setTimeout(resolve, againMs));
  }
}

/** Resolves to undefined when the pod is evicted or gone, or to the reason why it cannot be evicted yet. */
async function requestEviction(pod: JsonObject): Promise<string | undefined> {
  const { namespace, name } = metadataOf(pod);
  const [space, own] = [namespace, name].map(encodeURIComponent);
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
  try {
    await sendJson('POST', `/api/v1/namespaces/${space}/pods/${own}/eviction`, body);
    return undefined;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    // An answer of the server is final except 429; a lost connection is not.
    if (isTooManyRequests(error) || !(error instanceof StatusError)) return errorMessage(error);
    throw error;
  }
}
