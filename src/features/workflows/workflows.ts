/** Workflows: state machines in the Amazon States Language that call functions and create objects. */
import type { Feature } from '../feature.ts';
import { workflowController, workflowRights } from './controller/workflow.ts';
import { type WorkflowOptions, workflowRunController, workflowRunRights } from './controller/workflow-run.ts';
import { workflowRoles } from './roles.ts';
import type { RunClient } from './server/invoke.ts';
import { workflowRuns } from './server/object-metrics.ts';
import { workflowsServer } from './server/workflows-server.ts';

export interface WorkflowSettings extends WorkflowOptions {
  /** Creates runs of called workflows; without it workflows cannot be called. */
  readonly workflowCalls?: RunClient;
}

const account = 'workflow-controller';

export const workflows: Feature<WorkflowSettings> = {
  name: 'workflows',
  roles: workflowRoles,
  objectMetrics: [workflowRuns],
  server: ({ workflowCalls }) => ({ feature: workflowsServer(workflowCalls) }),
  controllers: [
    { account, rights: workflowRights, controller: () => workflowController },
    { account, rights: workflowRunRights, controller: workflowRunController },
  ],
};
