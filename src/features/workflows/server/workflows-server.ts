/** Workflows on one master: calls that create runs, and the checks of definitions and runs. */

import { publicCalls } from '../../../kube-apiserver/forwarding/public-calls.ts';
import type { ServerFeature, ServerFeatureFactory } from '../../../kube-apiserver/server-feature.ts';
import { workflowResource } from '../api/workflow.ts';
import { invokeWorkflow, type RunClient } from './invoke.ts';
import { RunEnds } from './run-ends.ts';
import { runParents } from './run-parents.ts';
import { workflowExpressions } from './workflow-expressions.ts';

/** `runs`: client of runs; if absent, workflows cannot be called. */
export const workflowsServer =
  (runs: RunClient | undefined): ServerFeatureFactory =>
  ({ cache, clock }) => ({
    ...(runs && { subresources: callsOf(new RunEnds(cache, clock), runs) }),
    admission: [runParents, workflowExpressions(clock)],
    authorizers: [publicCalls(cache, workflowResource, ({ spec }) => spec.public)],
  });

const callsOf = (ends: RunEnds, runs: RunClient): ServerFeature['subresources'] => ({
  [`${workflowResource.group}/${workflowResource.plural}`]: {
    invoke: {
      methods: { POST: invokeWorkflow(ends, runs) },
      kind: { group: '', version: 'v1', kind: 'WorkflowCall' },
      longRunning: 'call',
      answersBytes: true,
    },
  },
});
