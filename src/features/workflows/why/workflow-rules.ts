/** Causes of failed and waiting runs of workflows. Pure. */
import type { JsonObject } from '../../../apimachinery/equality.ts';
import { metadataOf, recordsAt, textAt } from '../../../apimachinery/fields.ts';
import { command } from '../../../why/command.ts';
import { inNamespace, type KindKey, type ObjectRef } from '../../../why/kinds.ts';
import { conditionOf, oneLine } from '../../../why/pod-facts.ts';
import type { Rule, Rules } from '../../../why/rule.ts';

const failedPhases = ['Failed', 'TimedOut'];
const hasFailed = (run: JsonObject) => failedPhases.includes(textAt(run, 'status', 'phase'));

const workflowLastRun: Rule = {
  kinds: ['workflows.minik8s.io'],
  symptom: 'The runs of a workflow fail.',
  cause: 'Its newest run that has ended has failed.',
  advice: 'Mend the state that is named, and run the workflow again.',
  find(workflow, seen) {
    const ended = seen
      .ownedBy(workflow)
      .flatMap((ref) => {
        const run = seen.get(ref);
        const at = textAt(run, 'status', 'completionTime');
        return run && at !== '' ? [{ ref, run, at }] : [];
      })
      .toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
    const last = ended.at(-1);
    if (!last || !hasFailed(last.run)) return undefined;
    return { severity: 'degraded', says: `its last run ${last.ref.name} has failed`, because: [last.ref] };
  },
};

const runFailed: Rule = {
  kinds: ['workflowruns.minik8s.io'],
  symptom: 'A run of a workflow is Failed or TimedOut.',
  cause: 'A state has ended with an error that no Catch handles.',
  advice:
    'Mend what the state calls, or its definition (Retry, Catch); ctl workflow history shows each step.',
  find(run, seen) {
    if (!hasFailed(run)) return undefined;
    const { name, namespace } = metadataOf(run);
    const history = recordsAt(run, 'status', 'history');
    const state = failedState(history);
    const [error, cause] = [textAt(run, 'status', 'error'), oneLine(textAt(run, 'status', 'cause'))];
    const task = calledBy(history, state, namespace);
    const workflow = textAt(run, 'spec', 'workflow');
    return {
      severity: 'degraded',
      says: `state ${state} has failed with ${error || 'an error'}${cause ? `: ${cause}` : ''}`,
      evidence: task ? [`state ${state} calls ${task.resource}`] : [],
      mend: [
        {
          command: command`workflow run ${workflow}${inNamespace({ namespace })} --input INPUT`,
          about: 'when what the state calls is mended',
        },
        {
          command: command`workflow history ${name}${inNamespace({ namespace })}`,
          about: 'shows the input of each state',
        },
      ],
      ...(task && seen.get(task.ref) && { because: [task.ref] }),
    };
  },
};

/** Entries about enclosing states, which fail after the state within, and about other branches. */
const outer = /^(?:Map|Parallel)|Aborted$/;

/** Returns the innermost state that was reported last. */
function failedState(history: readonly JsonObject[]): string {
  const last = history.findLast(
    (entry) => textAt(entry, 'state') !== '' && !outer.test(textAt(entry, 'type')),
  );
  return textAt(last, 'state') || '(before the first)';
}

const kindOfResource: Readonly<Record<string, KindKey>> = {
  function: 'functions.minik8s.io',
  workflow: 'workflows.minik8s.io',
  job: 'cronjobs.batch',
};

/** Returns what the task of a state calls, from the history; undefined for other states. */
function calledBy(
  history: readonly JsonObject[],
  state: string,
  namespace: string,
): { readonly resource: string; readonly ref: ObjectRef } | undefined {
  const scheduled = history.findLast(
    (entry) => entry.type === 'TaskScheduled' && textAt(entry, 'state') === state,
  );
  const resource = textAt(scheduled, 'detail', 'resource');
  const [, kind = '', place, name] = /^(function|workflow|job):(?:([^/]+)\/)?([^/]+)$/.exec(resource) ?? [];
  const key = kindOfResource[kind];
  if (!key || name === undefined) return undefined;
  return { resource, ref: { key, namespace: place ?? namespace, name } };
}

const runWaiting: Rule = {
  kinds: ['workflowruns.minik8s.io'],
  symptom: 'A run of a workflow stays Pending.',
  cause: 'Its Workflow does not exist.',
  advice: 'Create the Workflow, or delete the run.',
  find(run) {
    const started = conditionOf(run, 'Started');
    if (started?.status !== 'False') return undefined;
    const { name, namespace } = metadataOf(run);
    const workflow = textAt(run, 'spec', 'workflow');
    return {
      severity: 'broken',
      says: oneLine(textAt(started, 'message')),
      mend: [
        { command: command`workflow create ${workflow}${inNamespace({ namespace })} --definition FILE` },
        { command: command`delete workflowrun ${name}${inNamespace({ namespace })}` },
      ],
    };
  },
};

export const workflowRules: Rules = {
  'workflow-last-run': workflowLastRun,
  'workflow-run-failed': runFailed,
  'workflow-run-waiting': runWaiting,
};
