import { workflowRuns } from '../../../../../src/features/workflows/server/object-metrics.ts';
import { describeSamples, explains, names } from '../../../kube-apiserver/object-metrics/expected-samples.ts';

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
  ['created', {}, '1767225600'],
  [
    'status_start_time',
    { status: { startTime: '2026-01-01T00:00:01Z', completionTime: '2026-01-01T00:00:02Z' } },
    '1767225601',
  ],
  ['status_start_time', {}],
  [
    'status_completion_time',
    { status: { startTime: '2026-01-01T00:00:01Z', completionTime: '2026-01-01T00:00:02Z' } },
    '1767225602',
  ],
  ['status_completion_time', { status: {} }],
]);

explains('WorkflowRuns', workflowRuns);
names(workflowRuns, 'namespace="ns",workflow_run="a"');
