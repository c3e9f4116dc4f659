/** The page of workflows with their last runs. */
import { useEffect } from 'preact/hooks';
import { metadataOf, textAt } from '../../../../apimachinery/fields.ts';
import { seen } from '../../cluster/seen.ts';
import { objectHref } from '../../shell/plan/addresses.ts';
import { namespace } from '../../shell/scope.ts';
import { ScopeChoice } from '../../shell/scope-choice.tsx';
import type { Page } from '../page.ts';
import { RunList, runsKey } from './graph-tab.tsx';
import { phaseHealth, workflowsKey } from './run-tab.tsx';

function Workflows() {
  useEffect(() => {
    document.title = 'Workflows · minik8s';
  }, []);
  const scope = { namespace: namespace.value };
  const [workflows, runs] = [seen(workflowsKey, scope), seen(runsKey, scope)];
  const byWorkflow = Map.groupBy(
    runs.items,
    (run) => `${metadataOf(run).namespace}/${textAt(run, 'spec', 'workflow')}`,
  );
  const places = workflows.items.map((one) => ({
    ...metadataOf(one),
    id: `${metadataOf(one).namespace}/${metadataOf(one).name}`,
  }));
  return (
    <div class="page">
      <div class="head">
        <h1>Workflows</h1>
        <span class="count" role="status">
          {workflows.synced ? workflows.items.length : 'Loading…'}
        </span>
        <span class="grow" />
        <ScopeChoice />
      </div>
      {workflows.refused && (
        <p class="notice bad">You may not list the workflows here. Choose another namespace.</p>
      )}
      {workflows.synced && !workflows.refused && places.length === 0 && (
        <p class="empty">No workflows here.</p>
      )}
      <div class="cards">
        {places.map(({ id, name, namespace: of }) => {
          const own = byWorkflow.get(id) ?? [];
          const phases = Map.groupBy(own, (run) => textAt(run, 'status', 'phase') || 'Pending');
          return (
            <article key={id} class="panel card" aria-label={name}>
              <header>
                <h2>
                  <a href={objectHref(workflowsKey, of, name, 'graph')}>{name}</a>
                </h2>
                {[...phases].map(([phase, list]) => (
                  <span key={phase} class={`chip ${phaseHealth(phase)}`}>
                    {list.length} {phase}
                  </span>
                ))}
                <span class="grow" />
                <span class="faint">{of}</span>
              </header>
              <RunList runs={newest(own)} />
            </article>
          );
        })}
      </div>
    </div>
  );
}

const newest = (runs: Parameters<typeof RunList>[0]['runs']) =>
  runs
    .toSorted((a, b) =>
      (metadataOf(a).creationTimestamp ?? '') < (metadataOf(b).creationTimestamp ?? '') ? 1 : -1,
    )
    .slice(0, 5);

export const workflowsPage: Page = {
  ...{ path: 'workflows', title: 'Workflows', group: 'Work', needs: workflowsKey },
  icon: 'M4 4h6v5H4zM14 15h6v5h-6zM7 9v4h10v2M14 4h6v5h-6zM17 9v4',
  component: Workflows,
};
