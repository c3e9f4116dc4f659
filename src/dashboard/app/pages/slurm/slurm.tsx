/** The page of Slurm jobs. */
import { useEffect } from 'preact/hooks';
import { ageSince } from '../../../../apimachinery/age.ts';
import { metadataOf, textAt, valueAt } from '../../../../apimachinery/fields.ts';
import { seen } from '../../cluster/seen.ts';
import { objectHref } from '../../shell/plan/addresses.ts';
import { namespace } from '../../shell/scope.ts';
import { ScopeChoice } from '../../shell/scope-choice.tsx';
import { now } from '../../shell/screen.ts';
import type { Page } from '../page.ts';

export const slurmKey = 'slurmjobs.minik8s.io';
const healths: Readonly<Record<string, string>> = { Succeeded: 'good', Failed: 'bad', Canceled: 'neutral' };

function Slurm() {
  useEffect(() => {
    document.title = 'Slurm jobs · minik8s';
  }, []);
  const { items, synced, refused } = seen(slurmKey, { namespace: namespace.value });
  const created = (job: (typeof items)[number]) => metadataOf(job).creationTimestamp ?? '';
  const newest = items.toSorted((a, b) => (created(a) < created(b) ? 1 : -1));
  return (
    <div class="page">
      <div class="head">
        <h1>Slurm jobs</h1>
        <span class="count" role="status">
          {synced ? items.length : 'Loading…'}
        </span>
        <span class="grow" />
        <ScopeChoice />
      </div>
      {refused && <p class="notice bad">You may not list the Slurm jobs here. Choose another namespace.</p>}
      {synced && !refused && items.length === 0 && <p class="empty">No Slurm jobs here.</p>}
      <ul class="run-list panel-list">
        {newest.map((job) => {
          const { name, namespace: of, uid } = metadataOf(job);
          const phase = textAt(job, 'status', 'phase') || 'Waiting';
          const exitCode = valueAt(job, 'status', 'exitCode');
          return (
            <li key={uid} class="panel">
              <span class={`chip ${healths[phase] ?? 'waiting'}`}>{phase}</span>
              <a class="strong" href={objectHref(slurmKey, of, name, 'output')}>
                {name}
              </a>
              <span class="faint">{of}</span>
              <span>
                {[
                  textAt(job, 'status', 'state'),
                  textAt(job, 'status', 'jobID') && `job ${textAt(job, 'status', 'jobID')}`,
                ]
                  .filter(Boolean)
                  .join(', ')}
                {typeof exitCode === 'number' && `, exit code ${exitCode}`}
              </span>
              <span class="faint job-reason">{textAt(job, 'status', 'reason')}</span>
              <span class="grow" />
              <span class="faint nowrap">{ageSince(created(job), now.value)}</span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

export const slurmPage: Page = {
  ...{ path: 'slurm', title: 'Slurm jobs', group: 'Work', needs: slurmKey },
  icon: 'M6 6h12v12H6zM9 2v4M15 2v4M9 18v4M15 18v4M2 9h4M2 15h4M18 9h4M18 15h4',
  component: Slurm,
};
