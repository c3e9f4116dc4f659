/**
 * The strategy by which a deployment replaces its pods: defaults and rules (upstream:
 * ValidateDeploymentStrategy).
 */

import { forbiddenCause, invalidCause } from '../../../apimachinery/field-error.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { isNone, validateAtMostAll, validateIntOrPercent } from '../../int-or-percent.ts';
import type { Deployment } from './types.gen.ts';

type Strategy = Deployment['spec']['strategy'];

const defaultStep = '25%';

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
    ...validateIntOrPercent(maxUnavailable, `${at}.maxUnavailable`),
    ...validateIntOrPercent(maxSurge, `${at}.maxSurge`),
  ];
  if (isNone(maxUnavailable) && isNone(maxSurge))
    causes.push(invalidCause(`${at}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0'));
  return [...causes, ...validateAtMostAll(maxUnavailable, `${at}.maxUnavailable`)];
}
