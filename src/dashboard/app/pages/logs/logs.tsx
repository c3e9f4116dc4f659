/** The page of logs: those of a pod, of a workload or of the pods with a label. */
import { useEffect, useMemo } from 'preact/hooks';
import { recordsAt, textAt } from '../../../../apimachinery/fields.ts';
import { seen } from '../../cluster/seen.ts';
import { place, replaceQuery } from '../../shell/router.ts';
import { namespace } from '../../shell/scope.ts';
import { ScopeChoice } from '../../shell/scope-choice.tsx';
import type { Page } from '../page.ts';
import { LogView } from './log-view.tsx';
import { type WorkloadChoice, workloadChoices } from './plan/workload-choices.ts';

/** Maximum number of workloads and pods to choose from; a namespace narrows them. */
const maxChoices = 500;

function Logs() {
  useEffect(() => {
    document.title = 'Logs · minik8s';
  }, []);
  const { query } = place.value;
  const of = (name: string) => query.get(name) ?? '';
  const pods = seen('pods', { namespace: namespace.value });
  const choices = useMemo(() => workloadChoices(pods.items), [pods.items]);
  const choice = {
    namespace: of('ns') || namespace.value,
    pod: of('pod'),
    labels: of('labels'),
    container: of('container'),
  };
  const isOf = (one: WorkloadChoice) =>
    one.labels === choice.labels && one.namespace === of('ns') && one.pod === choice.pod;
  const chosen = choices.find(isOf);
  const isChosen = choice.labels !== '' || choice.pod !== '';
  return (
    <div class="page filled">
      <div class="head">
        <h1>Logs</h1>
        <WorkloadPicker
          choices={choices}
          chosen={chosen}
          title={isChosen ? choice.labels || choice.pod : 'Choose a workload or pod'}
        />
        {chosen && <ContainerPicker pods={chosen.pods} container={choice.container} />}
        <span class="grow" />
        <ScopeChoice />
      </div>
      {isChosen ? (
        <LogView key={JSON.stringify(choice)} choice={choice} />
      ) : (
        <Suggestions choices={choices.slice(0, 60)} isEmpty={pods.synced && choices.length === 0} />
      )}
    </div>
  );
}

interface WorkloadPickerProps {
  readonly choices: readonly WorkloadChoice[];
  readonly chosen: WorkloadChoice | undefined;
  /** Text for what is shown if it is none of the choices. */
  readonly title: string;
}

function WorkloadPicker({ choices, chosen, title }: WorkloadPickerProps) {
  const first = choices.slice(0, maxChoices);
  const offered = chosen && !first.includes(chosen) ? [...first, chosen] : first;
  return (
    <label class="scope">
      <span class="hidden-label">Workload or pod</span>
      <select
        value={chosen?.id ?? ''}
        onChange={(event) => {
          const next = choices.find(({ id }) => id === event.currentTarget.value);
          const { namespace: ns = '', labels = '', pod = '' } = next ?? {};
          replaceQuery({ ns, labels, pod, container: '' });
        }}
      >
        <option value="">{chosen ? 'Choose a workload or pod' : title}</option>
        {offered.map(({ id, title: name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

interface ContainerPickerProps {
  readonly pods: WorkloadChoice['pods'];
  readonly container: string;
}

function ContainerPicker({ pods, container }: ContainerPickerProps) {
  const containers = new Set(
    pods.flatMap((pod) => recordsAt(pod, 'spec', 'containers').map((one) => textAt(one, 'name'))),
  );
  if (containers.size < 2) return null;
  return (
    <label class="scope">
      <span class="hidden-label">Container</span>
      <select value={container} onChange={(event) => replaceQuery({ container: event.currentTarget.value })}>
        <option value="">All containers</option>
        {[...containers].map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

interface SuggestionProps {
  readonly choices: ReturnType<typeof workloadChoices>;
  readonly isEmpty: boolean;
}

const Suggestions = ({ choices, isEmpty }: SuggestionProps) => (
  <div class="suggestions">
    {isEmpty && <p class="empty">No pods here.</p>}
    {choices.map(({ id, title, namespace: ns, labels, pod, pods }) => (
      <button key={id} type="button" onClick={() => replaceQuery({ ns, labels, pod })}>
        {title}
        <span class="faint">
          {pods.length} {pods.length === 1 ? 'pod' : 'pods'}
        </span>
      </button>
    ))}
  </div>
);

export const logsPage: Page = {
  ...{ path: 'logs', title: 'Logs', group: 'Applications', needs: 'pods' },
  icon: 'M5 5h14M5 10h9M5 15h14M5 20h6',
  component: Logs,
};
