/**
 * Lets only the cluster set the chain of triggers that led to a run or a Job: the chain decides which
 * triggers receive events of the object.
 */
import { jobResource } from '../../../api/batch/v1/job.ts';
import { serviceAccountUserName } from '../../../apimachinery/account-user.ts';
import { newForbidden } from '../../../apimachinery/status-error.ts';
import type { AdmissionPlugin } from '../../../apiserver/admission/plugin.ts';
import { workflowRunResource } from '../../workflows/api/workflow-run.ts';
import { chainAnnotation } from '../api/trigger-chain.ts';

const kinds = [jobResource, workflowRunResource];
const writers = ['trigger-controller', 'workflow-controller'].map((name) =>
  serviceAccountUserName('kube-system', name),
);

export const triggerChains: AdmissionPlugin = {
  name: 'TriggerChains',
  validate({ definition, name, object, old, subresource, user }) {
    if (!object || subresource !== '' || writers.includes(user.name)) return;
    if (!kinds.some(({ group, plural }) => definition.group === group && definition.plural === plural))
      return;
    const [next, before] = [object, old].map((one) => one?.metadata.annotations?.[chainAnnotation]);
    if (next !== before)
      throw newForbidden(
        definition,
        name,
        `the annotation ${chainAnnotation} is set by the cluster: leave it as it is`,
      );
  },
};
