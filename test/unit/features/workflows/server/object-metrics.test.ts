import { workflowRuns } from '../../../../../src/features/workflows/server/object-metrics.ts';
import { describeSamples } from '../../../kube-apiserver/object-metrics/expected-samples.ts';

describeSamples('WorkflowRuns', workflowRuns, 'minik8s_workflow_run', [
  ['info', { spec: { workflow: 'w' } }, 'workflow="w" 1'],
  [
    'status_phase',
    { status: { phase: 'TimedOut' } },
    'phase="Pending" 0',
    'phase="Running" 0',
    'phase="Succeeded" 0',
    'phase="Failed" 0',
    'phase="Aborted" 0',
    'phase="TimedOut" 1',
  ],
  ['status_completion_time', { status: {} }],
]);
