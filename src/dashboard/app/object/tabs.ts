/** The one list of the tabs of an object's page. */
import type { KubeObject } from '../../../apimachinery/meta.ts';
import { may } from '../cluster/access.ts';
import { kindsByKey } from '../cluster/kinds.ts';
import type { ApiKind } from '../cluster/plan/discovery.ts';
import { CallTab } from '../pages/functions/call-tab.tsx';
import { RolloutTab } from '../pages/rollouts/rollout-tab.tsx';
import { OutputTab } from '../pages/slurm/output-tab.tsx';
import { GraphTab } from '../pages/workflows/graph-tab.tsx';
import { RunTab } from '../pages/workflows/run-tab.tsx';
import { EventsTab } from './events.tsx';
import { FilesTab } from './files-tab.tsx';
import { LogTab } from './log-tab.tsx';
import { OverviewTab } from './overview-tab.tsx';
import type { ObjectTab } from './tab.ts';
import { TerminalTab } from './terminal-tab.tsx';
import { TreeTab } from './tree-tab.tsx';
import { YamlTab } from './yaml-tab.tsx';

export const tabs: readonly ObjectTab[] = [
  { path: '', title: 'Overview', component: OverviewTab },
  { path: 'call', title: 'Call', applies: isCallable, component: CallTab },
  { path: 'graph', title: 'Graph', applies: isKind('workflows.minik8s.io'), component: GraphTab },
  { path: 'run', title: 'Run', applies: isKind('workflowruns.minik8s.io'), component: RunTab },
  { path: 'output', title: 'Output', applies: isKind('slurmjobs.minik8s.io'), component: OutputTab },
  { path: 'rollout', title: 'Rollout', applies: hasRollout, component: RolloutTab },
  { path: 'logs', title: 'Logs', applies: hasLogs, component: LogTab },
  { path: 'terminal', title: 'Terminal', applies: hasTerminal, component: TerminalTab },
  { path: 'files', title: 'Files', applies: hasTerminal, component: FilesTab },
  { path: 'yaml', title: 'YAML', component: YamlTab },
  { path: 'events', title: 'Events', component: EventsTab },
  { path: 'tree', title: 'Owners', component: TreeTab },
];

const podKinds: readonly string[] = [
  ...['pods', 'deployments.apps', 'statefulsets.apps', 'daemonsets.apps', 'replicasets.apps', 'jobs.batch'],
];

function mayWithPods(verb: string, namespace: string | undefined, subresource: string): boolean {
  const pods = kindsByKey.value.get('pods');
  return pods !== undefined && may(verb, pods, namespace, { subresource });
}

function isKind(wanted: string) {
  return ({ key }: ApiKind) => key === wanted;
}

function isCallable(kind: ApiKind, { metadata }: KubeObject): boolean {
  return (
    kind.key === 'functions.minik8s.io' && may('create', kind, metadata.namespace, { subresource: 'invoke' })
  );
}

const rolledOut: readonly string[] = ['deployments.apps', 'statefulsets.apps', 'daemonsets.apps'];

function hasRollout({ key }: ApiKind, { metadata }: KubeObject): boolean {
  return rolledOut.includes(key) && mayWithPods('list', metadata.namespace, '');
}

function hasLogs({ key }: ApiKind, { metadata }: KubeObject): boolean {
  return podKinds.includes(key) && mayWithPods('get', metadata.namespace, 'log');
}

function hasTerminal({ key }: ApiKind, { metadata }: KubeObject): boolean {
  return key === 'pods' && mayWithPods('create', metadata.namespace, 'exec');
}
