/** The containers of a pod, or of the template of a workload, with their states. Pure. */
import { isRecord, type JsonObject } from '../../../../apimachinery/equality.ts';
import { numberAt, recordAt, recordsAt, textAt, valueAt } from '../../../../apimachinery/fields.ts';

export interface ContainerFacts {
  readonly name: string;
  /**
   * `init` for one that runs before the others, `sidecar` for one that stays, `debug` for one that was added.
   */
  readonly role: 'container' | 'init' | 'sidecar' | 'debug';
  readonly image: string;
  readonly state: string;
  readonly detail: string;
  readonly health: 'good' | 'waiting' | 'bad' | undefined;
  readonly restarts: number | undefined;
  readonly ports: readonly string[];
  /** Such as `50m – 1` for a request of 50m and a limit of 1; empty if neither is set. */
  readonly cpu: string;
  readonly memory: string;
}

export function containersOf(object: JsonObject): ContainerFacts[] {
  const spec = podSpecOf(object);
  if (!spec) return [];
  const status = recordAt(object, 'status');
  const list = (field: string, statusField: string, role: ContainerFacts['role']) =>
    recordsAt(spec, field).map((container) =>
      factsOf(container, role, statusOf(status, statusField, container)),
    );
  return [
    ...list('initContainers', 'initContainerStatuses', 'init'),
    ...list('containers', 'containerStatuses', 'container'),
    ...list('ephemeralContainers', 'ephemeralContainerStatuses', 'debug'),
  ];
}

function podSpecOf(object: JsonObject): JsonObject | undefined {
  const specs = [
    valueAt(object, 'spec'),
    valueAt(object, 'spec', 'template', 'spec'),
    valueAt(object, 'spec', 'jobTemplate', 'spec', 'template', 'spec'),
  ];
  return specs
    .filter(isRecord)
    .find((spec) => recordsAt(spec, 'containers').some(({ image }) => image !== undefined));
}

const statusOf = (status: JsonObject, field: string, container: JsonObject): JsonObject | undefined =>
  recordsAt(status, field).find(({ name }) => name === container.name);

function factsOf(
  container: JsonObject,
  role: ContainerFacts['role'],
  status: JsonObject | undefined,
): ContainerFacts {
  const amounts = (resource: string) =>
    [textOf(container, 'requests', resource), textOf(container, 'limits', resource)]
      .filter((text, index, all) => text !== '' && all.indexOf(text) === index)
      .join(' – ');
  return {
    name: textAt(container, 'name'),
    role: role === 'init' && textAt(container, 'restartPolicy') === 'Always' ? 'sidecar' : role,
    image: textAt(container, 'image'),
    ...stateOf(status, role),
    restarts: status && numberAt(status, 'restartCount'),
    ports: recordsAt(container, 'ports').map(portText),
    cpu: amounts('cpu'),
    memory: amounts('memory'),
  };
}

function textOf(container: JsonObject, kind: string, resource: string): string {
  const value = valueAt(container, 'resources', kind, resource);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function portText(port: JsonObject): string {
  const protocol = textAt(port, 'protocol');
  const name = textAt(port, 'name');
  const number = `${numberAt(port, 'containerPort')}${protocol === '' || protocol === 'TCP' ? '' : `/${protocol}`}`;
  return name === '' ? number : `${name} ${number}`;
}

type State = Pick<ContainerFacts, 'state' | 'detail' | 'health'>;

function stateOf(status: JsonObject | undefined, role: ContainerFacts['role']): State {
  if (!status) return { state: '', detail: '', health: undefined };
  const { waiting, terminated } = recordAt(status, 'state');
  if (isRecord(waiting)) return waitingState(waiting);
  if (isRecord(terminated)) return endedState(terminated);
  const isReady = status.ready === true;
  if (role === 'debug' || isReady) return { state: 'Running', detail: '', health: 'good' };
  return { state: 'Running', detail: 'not ready', health: 'waiting' };
}

function waitingState(waiting: JsonObject): State {
  const reason = textAt(waiting, 'reason') || 'Waiting';
  const isStarting = reason === 'ContainerCreating' || reason === 'PodInitializing';
  return { state: reason, detail: textAt(waiting, 'message'), health: isStarting ? 'waiting' : 'bad' };
}

function endedState(terminated: JsonObject): State {
  const code = numberAt(terminated, 'exitCode');
  const reason = textAt(terminated, 'reason') || 'Terminated';
  const message = textAt(terminated, 'message');
  const detail = code === 0 ? message : `exit code ${code}${message === '' ? '' : `: ${message}`}`;
  return { state: reason, detail, health: code === 0 ? 'good' : 'bad' };
}
