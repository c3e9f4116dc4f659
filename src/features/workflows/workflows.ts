/** Workflows: state machines in the Amazon States Language that call functions and create objects. */
import type { Feature } from '../feature.ts';
import { workflowController } from './controller/workflow.ts';
import { type WorkflowOptions, workflowRunController } from './controller/workflow-run.ts';
import { workflowRoles } from './roles.ts';
import { workflowRuns } from './server/object-metrics.ts';

export interface WorkflowSettings extends WorkflowOptions {}

const account = 'workflow-controller';

export const workflows: Feature<WorkflowSettings> = {
  name: 'workflows',
  roles: workflowRoles,
  objectMetrics: [workflowRuns],
  controllers: (options) => [
    { account, controller: workflowController },
    { account, controller: workflowRunController(options) },
  ],
};
