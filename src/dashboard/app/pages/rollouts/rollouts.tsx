/** The page of rollouts: every workload with its state, those that are not complete first. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { JsonObject } from '../../../../apimachinery/equality.ts';
import { metadataOf } from '../../../../apimachinery/fields.ts';
import { type Seen, seen } from '../../cluster/seen.ts';
import { objectHref } from '../../shell/plan/addresses.ts';
import { namespace } from '../../shell/scope.ts';
import { ScopeChoice } from '../../shell/scope-choice.tsx';
import type { Page } from '../page.ts';
import { byOwner, type RolloutView, rolloutView } from './plan/rollout-view.ts';
import { Bar } from './progress.tsx';

const kinds = [
  { key: 'deployments.apps', kind: 'Deployment', keeper: 'replicasets.apps' },
  { key: 'statefulsets.apps', kind: 'StatefulSet', keeper: 'controllerrevisions.apps' },
  { key: 'daemonsets.apps', kind: 'DaemonSet', keeper: 'controllerrevisions.apps' },
] as const;

interface Row {
  readonly key: string;
  readonly kind: string;
  readonly workload: JsonObject;
  readonly view: RolloutView;
}

function useRows(scope: string): { readonly rows: readonly Row[]; readonly synced: boolean } {
  const pods = seen('pods', { namespace: scope }).items;
  const found = kinds.map(({ key, kind, keeper }) => ({
    ...{ key, kind, workloads: seen(key, { namespace: scope }) },
    kept: seen(keeper, { namespace: scope }).items,
  }));
  const rows = useMemo(
    () => rowsOf(found, pods),
    [pods, ...found.flatMap(({ workloads, kept }) => [workloads.items, kept])],
  );
  return { rows, synced: found.every(({ workloads }) => workloads.synced) };
}

interface Found {
  readonly key: string;
  readonly kind: string;
  readonly workloads: Seen;
  readonly kept: readonly JsonObject[];
}

function rowsOf(found: readonly Found[], pods: readonly JsonObject[]): readonly Row[] {
  const podsOf = byOwner(pods);
  const rows = found.flatMap(({ key, kind, workloads, kept }) => {
    const keptOf = byOwner(kept);
    return workloads.items.map((object) => {
      const workload = { ...object, kind };
      const { uid } = metadataOf(workload);
      const items = keptOf.get(uid) ?? [];
      const owners = [uid, ...items.map((item) => metadataOf(item).uid)];
      const own = owners.flatMap((owner) => podsOf.get(owner) ?? []);
      return { key, kind, workload, view: rolloutView(workload, items, own) };
    });
  });
  return rows.sort(openFirst);
}

const rank = ({ view }: Row) => (view.isPaused ? 1 : { failed: 0, waiting: 1, done: 2 }[view.state.outcome]);
const nameOf = ({ workload }: Row) => `${metadataOf(workload).namespace}/${metadataOf(workload).name}`;
const openFirst = (a: Row, b: Row) => rank(a) - rank(b) || (nameOf(a) < nameOf(b) ? -1 : 1);

const chips = {
  failed: ['bad', 'stuck'],
  waiting: ['waiting', 'rolling out'],
  done: ['good', 'complete'],
} as const;

function Rollouts() {
  const filter = useSignal('');
  useEffect(() => {
    document.title = 'Rollouts · minik8s';
  }, []);
  const { rows, synced } = useRows(namespace.value);
  const open = rows.filter((row) => rank(row) < 2).length;
  const shown = rows.filter((row) => nameOf(row).includes(filter.value.trim()));
  return (
    <div class="page">
      <div class="head">
        <h1>Rollouts</h1>
        <span class="count" role="status">
          {synced ? `${rows.length} workloads${open > 0 ? `, ${open} not complete` : ''}` : 'Loading…'}
        </span>
        <span class="grow" />
        <div class="filter">
          <input
            type="search"
            aria-label="Filter the workloads"
            placeholder="Filter by name"
            value={filter}
            onInput={(event) => {
              filter.value = event.currentTarget.value;
            }}
          />
        </div>
        <ScopeChoice />
      </div>
      {synced && rows.length === 0 && <p class="empty">No workloads here.</p>}
      <ul class="rollout-list">
        {shown.slice(0, 200).map((row) => (
          <RolloutRow key={`${row.key} ${nameOf(row)}`} row={row} />
        ))}
      </ul>
      {shown.length > 200 && <p class="faint">The first 200 of {shown.length}. Filter to see others.</p>}
    </div>
  );
}

function RolloutRow({ row }: { readonly row: Row }) {
  const { key, kind, workload, view } = row;
  const { namespace: own, name } = metadataOf(workload);
  const [health, word] = view.isPaused ? (['waiting', 'paused'] as const) : chips[view.state.outcome];
  const [first] = view.revisions;
  return (
    <li class="panel">
      <div>
        <a class="strong" href={objectHref(key, own, name, 'rollout')}>
          {name}
        </a>
        <span class="faint">
          {kind} in {own}
        </span>
      </div>
      <div class="rollout-middle">
        <Bar view={view} />
        <span class="faint">
          {view.state.outcome === 'done'
            ? `${view.replicas.ready} of ${view.replicas.wanted} ready`
            : view.state.message.replace(/^Waiting for .*? to finish: /, '').replace(/\.\.\.$/, '')}
        </span>
      </div>
      <span class={`chip ${health}`}>{word}</span>
      <span class="faint revision-of">
        {first && (
          <>
            revision {String(first.revision.number)}, <code>{[...new Set(first.images)].join(', ')}</code>
          </>
        )}
      </span>
    </li>
  );
}

export const rolloutsPage: Page = {
  ...{ path: 'rollouts', title: 'Rollouts', group: 'Applications', needs: 'deployments.apps' },
  icon: 'M12 3v6M9 6l3-3 3 3M5 12h14v8H5zM9 16h6',
  component: Rollouts,
};
