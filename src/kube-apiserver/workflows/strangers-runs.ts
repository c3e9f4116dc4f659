/**
 * Runs that nobody known has asked for: of a public workflow, or by a public trigger. Each is stored, and may wait for a year, so there
 * are no more than so many at a time.
 */

import { triggerLabel } from '../../api/minik8s/v1/trigger-event-draft.ts';
import {
  callerAnnotation,
  hasEnded,
  type WorkflowRun,
  workflowRunResource,
} from '../../api/minik8s/v1/workflow-run.ts';
import { storagePrefix } from '../../apimachinery/resource-definition.ts';
import { newStatusError } from '../../apimachinery/status-error.ts';
import { anonymousUser } from '../../apiserver/user.ts';
import type { Cache, IndexDeclaration } from '../../storage/cache.ts';

/** How many that have not ended one workflow may have of them, and one trigger may have led to. */
export const mostOfStrangers = 1000;
const retryAfterSeconds = 5;

const prefix = storagePrefix(workflowRunResource);
const isUnderWay = (object: object) => !hasEnded(object as WorkflowRun);

/** By `NAMESPACE/NAME` of the workflow. */
const runsOfStrangers: IndexDeclaration = {
  name: 'runs under way that strangers have begun, by workflow',
  prefix,
  keysOf: (object) => {
    const { metadata, spec } = object as WorkflowRun;
    const isTheirs = metadata.annotations?.[callerAnnotation] === anonymousUser;
    return isTheirs && isUnderWay(object) ? [`${metadata.namespace}/${spec.workflow}`] : [];
  },
};

/** By `NAMESPACE/NAME` of the trigger. */
const runsOfTriggers: IndexDeclaration = {
  name: 'runs under way by the trigger that has led to them',
  prefix,
  keysOf: (object) => {
    const { namespace, labels } = object.metadata;
    const name = labels?.[triggerLabel];
    return name !== undefined && isUnderWay(object) ? [`${namespace}/${name}`] : [];
  },
};

const tooMany = (what: string) =>
  newStatusError(
    'TooManyRequests',
    `${mostOfStrangers} runs ${what} have not ended: nobody unknown may begin more`,
    {
      retryAfterSeconds,
    },
  );

/** Throws 429 where a stranger may begin no run of the workflow now. */
export function checkRunsOfStrangers(cache: Cache, namespace: string, workflow: string): void {
  if (cache.index(runsOfStrangers).get(`${namespace}/${workflow}`).length >= mostOfStrangers)
    throw tooMany(`of the workflow ${workflow} that strangers have begun`);
}

/** Throws 429 where a stranger may send no request to the trigger now, as each becomes a run. */
export function checkRunsOfTrigger(cache: Cache, namespace: string, trigger: string): void {
  if (cache.index(runsOfTriggers).get(`${namespace}/${trigger}`).length >= mostOfStrangers)
    throw tooMany(`that the trigger ${trigger} has led to`);
}
