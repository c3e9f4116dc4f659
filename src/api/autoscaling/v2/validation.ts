/** Rules of a HorizontalPodAutoscaler (upstream: pkg/apis/autoscaling/validation). */
import {
  forbiddenCause,
  invalidCause,
  notSupportedCause,
  requiredCause,
} from '../../../apimachinery/field-error.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { validateMetric, validateReference } from './metric-validation.ts';
import type { HorizontalPodAutoscalerSpec, HPAScalingPolicy, HPAScalingRules } from './types.gen.ts';

const maxPeriod = 1800;
const maxStabilization = 3600;
const selectPolicies = ['Disabled', 'Max', 'Min'];
const policyTypes = ['Percent', 'Pods'];

export function validateSpec(spec: HorizontalPodAutoscalerSpec, path: string): StatusCause[] {
  const { minReplicas, maxReplicas, metrics = [], behavior } = spec;
  const causes: StatusCause[] = [];
  if (minReplicas < 1)
    causes.push(invalidCause(`${path}.minReplicas`, minReplicas, 'must be greater than or equal to 1'));
  if (maxReplicas < 1)
    causes.push(invalidCause(`${path}.maxReplicas`, maxReplicas, 'must be greater than 0'));
  if (maxReplicas < minReplicas)
    causes.push(
      invalidCause(`${path}.maxReplicas`, maxReplicas, 'must be greater than or equal to `minReplicas`'),
    );
  causes.push(
    ...validateReference(spec.scaleTargetRef, `${path}.scaleTargetRef`),
    ...metrics.flatMap((metric, index) => validateMetric(metric, `${path}.metrics[${index}]`)),
  );
  if (minReplicas === 0 && !metrics.some(({ type }) => type === 'Object' || type === 'External'))
    causes.push(
      forbiddenCause(
        `${path}.metrics`,
        'must specify at least one Object or External metric to support scaling to zero replicas',
      ),
    );
  return [
    ...causes,
    ...validateRules(behavior?.scaleUp, `${path}.behavior.scaleUp`),
    ...validateRules(behavior?.scaleDown, `${path}.behavior.scaleDown`),
  ];
}

function validateRules(rules: HPAScalingRules | undefined, path: string): StatusCause[] {
  if (!rules) return [];
  const { stabilizationWindowSeconds: window = 0, selectPolicy, policies = [] } = rules;
  const causes: StatusCause[] = [];
  const windowPath = `${path}.stabilizationWindowSeconds`;
  if (window < 0) causes.push(invalidCause(windowPath, window, 'must be greater than or equal to zero'));
  if (window > maxStabilization)
    causes.push(invalidCause(windowPath, window, `must be less than or equal to ${maxStabilization}`));
  if (selectPolicy !== undefined && !selectPolicies.includes(selectPolicy))
    causes.push(notSupportedCause(`${path}.selectPolicy`, selectPolicy, selectPolicies));
  if (policies.length === 0)
    causes.push(requiredCause(`${path}.policies`, 'must specify at least one Policy'));
  return [
    ...causes,
    ...policies.flatMap((policy, index) => validatePolicy(policy, `${path}.policies[${index}]`)),
  ];
}

function validatePolicy({ type, value, periodSeconds }: HPAScalingPolicy, path: string): StatusCause[] {
  const causes = policyTypes.includes(type) ? [] : [notSupportedCause(`${path}.type`, type, policyTypes)];
  const period = `${path}.periodSeconds`;
  if (value <= 0) causes.push(invalidCause(`${path}.value`, value, 'must be greater than zero'));
  if (periodSeconds <= 0) causes.push(invalidCause(period, periodSeconds, 'must be greater than zero'));
  if (periodSeconds > maxPeriod)
    causes.push(invalidCause(period, periodSeconds, `must be less than or equal to ${maxPeriod}`));
  return causes;
}
