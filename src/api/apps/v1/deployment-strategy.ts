/** How a deployment replaces its pods: defaults and rules (upstream: ValidateDeploymentStrategy). */
import { forbiddenCause, invalidCause } from '../../../apimachinery/field-error.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { nonNegative } from '../../core/v1/pod-template-validation.ts';
import type { Deployment } from './deployment.ts';

type Strategy = Deployment['spec']['strategy'];

const defaultStep = '25%';
const percent = /^[0-9]+%$/;

/** A surge or shortage: a number of pods, or a share of the replicas such as `25%`. */
export type IntOrPercent = number | string;

export function setStrategyDefaults({ spec: { strategy } }: Deployment): void {
  if (strategy.type !== 'RollingUpdate') return;
  strategy.rollingUpdate ??= {};
  strategy.rollingUpdate.maxUnavailable ??= defaultStep;
  strategy.rollingUpdate.maxSurge ??= defaultStep;
}

export function validateStrategy(strategy: Strategy, path: string): StatusCause[] {
  const at = `${path}.rollingUpdate`;
  if (strategy.type === 'Recreate') {
    const why = "may not be specified when strategy `type` is 'Recreate'";
    return strategy.rollingUpdate ? [forbiddenCause(at, why)] : [];
  }
  const { maxUnavailable = defaultStep, maxSurge = defaultStep } = strategy.rollingUpdate ?? {};
  const causes = [
    ...validateStep(maxUnavailable, `${at}.maxUnavailable`),
    ...validateStep(maxSurge, `${at}.maxSurge`),
  ];
  if (isZero(maxUnavailable) && isZero(maxSurge))
    causes.push(invalidCause(`${at}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0'));
  if (typeof maxUnavailable === 'string' && Number.parseInt(maxUnavailable, 10) > 100)
    causes.push(invalidCause(`${at}.maxUnavailable`, maxUnavailable, 'must not be greater than 100%'));
  return causes;
}

function validateStep(value: IntOrPercent, path: string): StatusCause[] {
  if (typeof value === 'number') return nonNegative(value, path);
  if (percent.test(value)) return [];
  const why = "a valid percent string is digits and then '%'";
  return [invalidCause(path, value, `${why}, such as '25%' (it has to match '[0-9]+%')`)];
}

/** A percentage that is zero whatever the number of replicas. */
const isZero = (value: IntOrPercent) => value === 0 || (typeof value === 'string' && /^0+%$/.test(value));
