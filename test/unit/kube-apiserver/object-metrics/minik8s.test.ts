import {
  functions,
  triggers,
  workflowRuns,
} from '../../../../src/kube-apiserver/object-metrics/kinds/minik8s.ts';
import { tells } from './told.ts';

tells('Functions', functions, 'minik8s_function', [
  ['info', { spec: { image: 'i' } }, 'runtime="",active_version="",latest_version="" 1'],
  ['status_replicas_ready', { status: { readyReplicas: 2 } }, '2'],
]);

tells('WorkflowRuns', workflowRuns, 'minik8s_workflow_run', [
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

tells('Triggers', triggers, 'minik8s_trigger', [
  [
    'info',
    { spec: { target: { kind: 'Workflow', name: 't' }, file: {} } },
    'source="file",target_kind="Workflow",target_name="t" 1',
  ],
  ['events_delivered_total', {}, '0'],
  ['events_failed_total', { status: { failed: 3 } }, '3'],
]);
