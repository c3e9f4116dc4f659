/** Workflows: state machines in the Amazon States Language that call functions and create objects. */
import type { Feature } from '../feature.ts';
import { workflowController, workflowRights } from './controller/workflow.ts';
import { type WorkflowOptions, workflowRunController, workflowRunRights } from './controller/workflow-run.ts';
import { workflowRoles } from './roles.ts';
import { workflowRuns } from './server/object-metrics.ts';

export interface WorkflowSettings extends WorkflowOptions {}

const account = 'workflow-controller';

export const workflows: Feature<WorkflowSettings> = {
  name: 'workflows',
  roles: workflowRoles,
  objectMetrics: [workflowRuns],
  controllers: [
    { account, rights: workflowRights, controller: () => workflowController },
    { account, rights: workflowRunRights, controller: workflowRunController },
  ],
};
