/** Plans which runs and definitions of a Workflow are deleted, and its status. Pure. */
import type { ControllerRevision } from '../../../api/apps/v1/controller-revision.ts';
import { findCondition, transitionTime } from '../../../apimachinery/conditions.ts';
import { isTerminating } from '../../../apimachinery/meta.ts';
import type { Workflow } from '../api/workflow.ts';
import { hasEnded, type WorkflowRun } from '../api/workflow-run.ts';
import { taskFinalizer } from './task-objects-plan.ts';

export interface WorkflowFacts {
  readonly runs: readonly WorkflowRun[];
  /** Revisions of the workflow. */
  readonly revisions: readonly ControllerRevision[];
  /** Name of the revision with which runs begin now. */
  readonly current: string;
  /** Current time in milliseconds, and the same in RFC 3339. */
  readonly now: number;
  readonly timestamp: string;
}

export interface WorkflowPlan {
  readonly remove: readonly WorkflowRun[];
  readonly forget: readonly ControllerRevision[];
  readonly status: NonNullable<Workflow['status']>;
  /** Milliseconds after which time alone changes the plan. */
  readonly again: number | undefined;
}

/**
 * Milliseconds that an unused revision is kept: a run that is about to begin may not show its revision yet.
 */
const revisionRestMs = 10 * 60_000;

const endOf = ({ status }: WorkflowRun) => Date.parse(status?.completionTime ?? '');

/**
 * Returns true for runs that the workflow deletes. A run that is a task in this namespace is deleted with its
 * parent.
 */
const isOwn = ({ metadata, spec }: WorkflowRun) =>
  spec.parent?.namespace !== metadata.namespace && !metadata.finalizers?.includes(taskFinalizer);

export function planWorkflow(workflow: Workflow, facts: WorkflowFacts): WorkflowPlan {
  const { runsHistoryLimit, ttlSecondsAfterFinished: ttl } = workflow.spec;
  const { runs, now } = facts;
  const ended = runs
    .filter((run) => hasEnded(run) && run.status?.state === undefined && !isTerminating(run) && isOwn(run))
    .toSorted((a, b) => endOf(b) - endOf(a));
  const kept = ended.slice(0, runsHistoryLimit);
  const isOver = (run: WorkflowRun) => ttl !== undefined && endOf(run) + ttl * 1000 <= now;
  const oldest = kept.filter((run) => !isOver(run)).at(-1);
  const { forget, again } = planRevisions(facts);
  const waits = [again, oldest && ttl !== undefined ? endOf(oldest) + ttl * 1000 - now : undefined].filter(
    (ms) => ms !== undefined,
  );
  return {
    remove: [...ended.slice(runsHistoryLimit), ...kept.filter(isOver)],
    forget,
    status: statusOf(workflow, facts),
    again: waits.length > 0 ? Math.min(...waits) : undefined,
  };
}

function planRevisions({ runs, revisions, current, now }: WorkflowFacts) {
  const used = new Set([current, ...runs.map(({ status }) => status?.definition)]);
  const unused = revisions.filter(({ metadata }) => !used.has(metadata.name));
  const restOf = ({ metadata }: ControllerRevision) =>
    Date.parse(metadata.creationTimestamp) + revisionRestMs - now;
  const waits = unused.map(restOf).filter((ms) => ms > 0);
  return {
    forget: unused.filter((revision) => restOf(revision) <= 0),
    again: waits.length > 0 ? Math.min(...waits) : undefined,
  };
}

function statusOf({ metadata, status }: Workflow, { runs, current, timestamp }: WorkflowFacts) {
  const newest =
    runs
      .map((run) => run.metadata.creationTimestamp)
      .toSorted()
      .at(-1) ?? status?.lastRunTime;
  const before = findCondition(status?.conditions, 'Ready');
  return {
    observedGeneration: metadata.generation,
    definition: current,
    active: runs.filter((run) => !hasEnded(run)).length,
    ...(newest !== undefined && { lastRunTime: newest }),
    conditions: [
      {
        type: 'Ready',
        status: 'True' as const,
        reason: 'Checked',
        message: 'runs can begin',
        lastTransitionTime: transitionTime(before, 'True', timestamp),
      },
    ],
  };
}
