/** Finds the reason why an instance does not start, as its node reports it. Pure. */

import { podCondition } from '../../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { ContainerStatus } from '../../../api/core/v1/types.gen.ts';

export interface InstanceProblem {
  readonly reason: string;
  readonly message: string;
}

/** Reasons of waiting containers that do not resolve without a change. */
const waiting =
  /^(?:CrashLoopBackOff|FunctionBuildFailed|InvalidImageName|CreateContainer.*|RunContainerError|.*Image.*)$/;

/** Maximum characters of a message. A log is cut at its beginning, because the failure is at its end. */
const longest = 2000;

/** Returns the problem, or undefined for a pod that is starting normally. */
export function problemOf(pod: Pod): InstanceProblem | undefined {
  const scheduled = podCondition(pod, 'PodScheduled');
  if (scheduled?.status === 'False') {
    return { reason: scheduled.reason ?? 'Unschedulable', message: scheduled.message ?? '' };
  }
  for (const status of pod.status?.containerStatuses ?? []) {
    const problem = containerProblem(status);
    if (problem) return problem;
  }
  return undefined;
}

function containerProblem({ state, lastState }: ContainerStatus): InstanceProblem | undefined {
  const ended = state?.terminated ?? lastState?.terminated;
  if (ended && ended.exitCode !== 0) return startFailure(ended.exitCode, ended.message);
  const { reason = '', message = '' } = state?.waiting ?? {};
  return waiting.test(reason) ? { reason, message: message.slice(-longest) } : undefined;
}

function startFailure(exitCode: number, message = ''): InstanceProblem {
  const output = message.trim() || `it ended with code ${exitCode}`;
  // The runtimes write file, line and cause first (src/features/functions/agent/programs); an image's
  // output has any form.
  if (/^[^\s:]+:\d+: /.test(output)) return { reason: 'StartFailed', message: output.slice(0, longest) };
  return { reason: 'StartFailed', message: `the program cannot be started: ${output.slice(-longest)}` };
}
