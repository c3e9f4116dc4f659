/** Evaluates a Job's `podFailurePolicy` for a failed pod: the first rule that matches applies. Pure. */

import type { Job } from '../../../api/batch/v1/job.ts';
import type {
  PodFailurePolicyOnExitCodesRequirement as ExitCodes,
  PodFailurePolicyOnPodConditionsPattern as Pattern,
  PodFailurePolicyRule,
} from '../../../api/batch/v1/types.gen.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { ContainerStatus } from '../../../api/core/v1/types.gen.ts';

export interface FailureVerdict {
  readonly action: PodFailurePolicyRule['action'];
  /** Reason for the failure of the Job, for the action FailJob. */
  readonly message: string;
}

/** Returns the verdict, or undefined if no rule matches; the failure then counts. */
export function failureVerdict({ spec }: Job, pod: Pod): FailureVerdict | undefined {
  for (const [index, rule] of (spec.podFailurePolicy?.rules ?? []).entries()) {
    const found = matched(rule, pod);
    if (found)
      return { action: rule.action, message: `${found} matching ${rule.action} rule at index ${index}` };
  }
  return undefined;
}

/** Returns true if the failure counts against the back-off limits. */
export const failureCounts = (job: Job, pod: Pod) => failureVerdict(job, pod)?.action !== 'Ignore';

function matched({ onExitCodes, onPodConditions = [] }: PodFailurePolicyRule, pod: Pod): string | undefined {
  const { name, namespace } = pod.metadata;
  if (onExitCodes) {
    const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
    const status = [...containerStatuses, ...initContainerStatuses].find((one) =>
      hasExitCode(one, onExitCodes),
    );
    const code = status?.state?.terminated?.exitCode;
    return status && `Container ${status.name} for pod ${namespace}/${name} failed with exit code ${code}`;
  }
  const condition = pod.status?.conditions?.find((one) =>
    onPodConditions.some(({ type, status = 'True' }: Pattern) => one.type === type && one.status === status),
  );
  return condition && `Pod ${namespace}/${name} has condition ${condition.type}`;
}

/**
 * Returns true if the container matches. A container that succeeded matches no rule, whatever the operator.
 */
function hasExitCode({ name, state }: ContainerStatus, { containerName, operator, values = [] }: ExitCodes) {
  const code = state?.terminated?.exitCode;
  if (!code || (containerName !== undefined && containerName !== name)) return false;
  return values.includes(code) === (operator === 'In');
}
