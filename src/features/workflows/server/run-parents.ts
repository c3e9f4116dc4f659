/**
 * Lets only the cluster set the parent and the caller of a run: the parent stops the run and uses its output
 * as the output of its task, and the caller reads the output by the run's name.
 */

import { serviceAccountUserName } from '../../../apimachinery/account-user.ts';
import { newForbidden } from '../../../apimachinery/status-error.ts';
import type { AdmissionPlugin } from '../../../apiserver/admission/plugin.ts';
import { mastersGroup } from '../../../apiserver/request/user.ts';
import { callerAnnotation, type WorkflowRun, workflowRunResource } from '../api/workflow-run.ts';

const controller = serviceAccountUserName('kube-system', 'workflow-controller');

export const runParents: AdmissionPlugin = {
  name: 'WorkflowRunParents',
  validate({ operation, definition, name, object, old, subresource, user }) {
    const { group, plural } = workflowRunResource;
    if (!object || subresource !== '' || definition.group !== group || definition.plural !== plural) return;
    const { spec } = object as WorkflowRun;
    if (operation === 'create' && user.name !== controller && spec.parent !== undefined)
      throw newForbidden(definition, name, 'spec.parent is set by the cluster: leave it out');
    const [next, before] = [object, old].map((one) => one?.metadata.annotations?.[callerAnnotation]);
    // The members of this group are the server itself and administrators who restore a cluster.
    if (!user.groups.includes(mastersGroup) && next !== before)
      throw newForbidden(
        definition,
        name,
        `the annotation ${callerAnnotation} is set by the cluster: leave it as it is`,
      );
  },
};
