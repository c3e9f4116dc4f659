/** Metrics of WorkflowRuns on /metrics/objects. Pure. */
import {
  gauge,
  info,
  objectMetrics,
  seconds,
  states,
} from '../../../kube-apiserver/object-metrics/family.ts';
import { created, namespaced } from '../../../kube-apiserver/object-metrics/metadata-families.ts';
import { runPhases, type WorkflowRun, workflowRunResource } from '../api/workflow-run.ts';

export const workflowRuns = objectMetrics<WorkflowRun>({
  ref: workflowRunResource,
  labelsOf: namespaced('workflow_run'),
  families: [
    info('minik8s_workflow_run_info', 'The Workflow that is run.', ({ spec }) => ({
      workflow: spec.workflow,
    })),
    created('minik8s_workflow_run'),
    states(
      'minik8s_workflow_run_status_phase',
      'The phase of the run.',
      'phase',
      runPhases,
      ({ status }) => status?.phase,
    ),
    gauge(
      'minik8s_workflow_run_status_start_time',
      'Start time of the run, in seconds since the epoch.',
      ({ status }) => seconds(status?.startTime),
    ),
    gauge(
      'minik8s_workflow_run_status_completion_time',
      'End time of the run, in seconds since the epoch.',
      ({ status }) => seconds(status?.completionTime),
    ),
  ],
});
