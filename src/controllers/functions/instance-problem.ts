/** Why an instance does not come up, in the words of its node. Pure. */
import type { Pod } from '../../api/core/v1/pod.ts';
import { podCondition } from '../../api/core/v1/pod-conditions.ts';

export interface InstanceProblem {
  readonly reason: string;
  readonly message: string;
}

/** States of a container that wait for something which does not come by itself. */
const waiting =
  /^(?:CrashLoopBackOff|FunctionBuildFailed|InvalidImageName|CreateContainer.*|RunContainerError|.*Image.*)$/;

/** Characters of a message; what failed is at the end of a log. */
const longest = 2000;

/** Undefined for a pod that is on its way. */
export function problemOf(pod: Pod): InstanceProblem | undefined {
  const scheduled = podCondition(pod, 'PodScheduled');
  if (scheduled?.status === 'False') {
    return { reason: scheduled.reason ?? 'Unschedulable', message: scheduled.message ?? '' };
  }
  for (const { state, lastState } of pod.status?.containerStatuses ?? []) {
    const ended = state?.terminated ?? lastState?.terminated;
    if (ended && ended.exitCode !== 0) {
      const said = (ended.message ?? '').trim() || `it ended with code ${ended.exitCode}`;
      // The runtimes write file, line and cause first (src/kubelet/functions/programs); an image writes anything.
      if (/^[^\s:]+:\d+: /.test(said)) return { reason: 'StartFailed', message: said.slice(0, longest) };
      return { reason: 'StartFailed', message: `the program cannot be started: ${said.slice(-longest)}` };
    }
    const { reason = '', message = '' } = state?.waiting ?? {};
    if (waiting.test(reason)) return { reason, message: message.slice(-longest) };
  }
  return undefined;
}
