/** minik8s' own kinds, reported in the same way. */
import { type Fn, functionResource } from '../../../api/minik8s/v1/function.ts';
import { type Trigger, triggerResource } from '../../../api/minik8s/v1/trigger.ts';
import { sourceNames } from '../../../api/minik8s/v1/trigger-fields.ts';
import { runPhases, type WorkflowRun, workflowRunResource } from '../../../api/minik8s/v1/workflow-run.ts';
import { conditions } from '../condition-samples.ts';
import { counter, gauge, info, objectMetrics, seconds, states } from '../family.ts';
import { created, generation, namespaced, observedGeneration } from '../metadata-families.ts';

export const functions = objectMetrics<Fn>({
  ref: functionResource,
  labelsOf: namespaced('function'),
  families: [
    info('minik8s_function_info', 'The language of the Function, and which version is called.', (fn) => ({
      runtime: fn.spec.runtime ?? '',
      active_version: fn.status?.activeVersion ?? '',
      latest_version: fn.status?.latestVersion ?? '',
    })),
    created('minik8s_function'),
    generation('minik8s_function'),
    gauge('minik8s_function_spec_min_scale', 'The least number of instances.', ({ spec }) => spec.minScale),
    gauge(
      'minik8s_function_spec_max_scale',
      'The greatest number of instances.',
      ({ spec }) => spec.maxScale,
    ),
    gauge(
      'minik8s_function_status_replicas',
      'How many instances there are.',
      ({ status }) => status?.replicas ?? 0,
    ),
    gauge(
      'minik8s_function_status_replicas_ready',
      'How many instances can be called.',
      ({ status }) => status?.readyReplicas ?? 0,
    ),
    observedGeneration('minik8s_function'),
    conditions(
      'minik8s_function_status_condition',
      'The conditions of the Function.',
      ({ status }) => status?.conditions,
    ),
  ],
});

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
      'When the run began, in seconds since the epoch.',
      ({ status }) => seconds(status?.startTime),
    ),
    gauge(
      'minik8s_workflow_run_status_completion_time',
      'When the run ended, in seconds since the epoch.',
      ({ status }) => seconds(status?.completionTime),
    ),
  ],
});

export const triggers = objectMetrics<Trigger>({
  ref: triggerResource,
  labelsOf: namespaced('trigger'),
  families: [
    info('minik8s_trigger_info', 'What the Trigger watches, and what it calls.', ({ spec }) => ({
      source: sourceNames.find((name) => spec[name] !== undefined) ?? '',
      target_kind: spec.target.kind ?? '',
      target_name: spec.target.name,
    })),
    created('minik8s_trigger'),
    gauge('minik8s_trigger_spec_suspend', 'Whether nothing is told.', ({ spec }) => spec.suspend ?? false),
    counter(
      'minik8s_trigger_events_delivered_total',
      'How many events were delivered.',
      ({ status }) => status?.delivered ?? 0,
    ),
    counter(
      'minik8s_trigger_events_failed_total',
      'How many events became dead letters.',
      ({ status }) => status?.failed ?? 0,
    ),
    counter(
      'minik8s_trigger_events_discarded_total',
      'How many events were dropped.',
      ({ status }) => status?.discarded ?? 0,
    ),
    gauge(
      'minik8s_trigger_status_pending',
      'How many events wait to be delivered.',
      ({ status }) => status?.pending ?? 0,
    ),
    gauge(
      'minik8s_trigger_status_dead_letters',
      'How many dead letters there are.',
      ({ status }) => status?.deadLetters ?? 0,
    ),
    gauge(
      'minik8s_trigger_status_last_time',
      'When an event was delivered last, in seconds since the epoch.',
      ({ status }) => seconds(status?.lastTime),
    ),
    conditions(
      'minik8s_trigger_status_condition',
      'The conditions of the Trigger.',
      ({ status }) => status?.conditions,
    ),
  ],
});
