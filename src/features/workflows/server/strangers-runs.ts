/** Limits runs of public workflows that anonymous users have started. */
import { storagePrefix } from '../../../apimachinery/resource-definition.ts';
import { anonymousUser } from '../../../apiserver/request/user.ts';
import { checkRoom, roomKeys } from '../../../kube-apiserver/forwarding/strangers-room.ts';
import type { Cache, IndexDeclaration } from '../../../storage/cache.ts';
import { callerAnnotation, hasEnded, type WorkflowRun, workflowRunResource } from '../api/workflow-run.ts';

const runsOfStrangers: IndexDeclaration = {
  name: 'runs in progress that anonymous users have started, by workflow',
  prefix: storagePrefix(workflowRunResource),
  keysOf: (object) => {
    const run = object as WorkflowRun;
    const { metadata, spec } = run;
    const isTheirs = metadata.annotations?.[callerAnnotation] === anonymousUser;
    return isTheirs && !hasEnded(run) ? roomKeys(metadata.namespace, spec.workflow) : [];
  },
};

/** Throws 429 if an anonymous user may not start a run of the workflow now. */
export const checkRunsOfStrangers = (cache: Cache, namespace: string, name: string): void =>
  checkRoom(
    cache,
    runsOfStrangers,
    { namespace, name },
    'runs in progress that anonymous users have started',
  );
