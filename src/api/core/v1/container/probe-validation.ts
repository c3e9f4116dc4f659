/**
 * Rules of the probes of a container (upstream: validateLivenessProbe, validateReadinessProbe,
 * validateStartupProbe).
 */
import { invalidCause } from '../../../../apimachinery/field-error.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import type { Container, Probe } from '../types.gen.ts';
import { validateHandler } from './handler-validation.ts';

const numbers = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const;

export function validateProbes(
  { livenessProbe, readinessProbe, startupProbe }: Container,
  graceSeconds: number,
  path: string,
): StatusCause[] {
  return [
    ...restarting(livenessProbe, graceSeconds, `${path}.livenessProbe`),
    ...readiness(readinessProbe, graceSeconds, `${path}.readinessProbe`),
    ...restarting(startupProbe, graceSeconds, `${path}.startupProbe`),
  ];
}

/** Validates a liveness or startup probe, whose successThreshold must be 1. */
function restarting(probe: Probe | undefined, graceSeconds: number, path: string): StatusCause[] {
  if (!probe) return [];
  const { successThreshold = 1 } = probe;
  const causes = validateProbe(probe, graceSeconds, path);
  if (successThreshold !== 1)
    causes.push(invalidCause(`${path}.successThreshold`, successThreshold, 'must be 1'));
  return causes;
}

function readiness(probe: Probe | undefined, graceSeconds: number, path: string): StatusCause[] {
  if (!probe) return [];
  const causes = validateProbe(probe, graceSeconds, path);
  const { terminationGracePeriodSeconds: grace } = probe;
  if (grace !== undefined)
    causes.push(
      invalidCause(`${path}.terminationGracePeriodSeconds`, grace, 'must not be set for readinessProbes'),
    );
  return causes;
}

function validateProbe(probe: Probe, graceSeconds: number, path: string): StatusCause[] {
  const { terminationGracePeriodSeconds: grace } = probe;
  return [
    ...validateHandler(probe, graceSeconds, path),
    ...numbers.flatMap((field) => {
      const value = probe[field] ?? 0;
      const problem = 'must be greater than or equal to 0';
      return value < 0 ? [invalidCause(`${path}.${field}`, value, problem)] : [];
    }),
    ...(grace !== undefined && grace <= 0
      ? [invalidCause(`${path}.terminationGracePeriodSeconds`, grace, 'must be greater than 0')]
      : []),
  ];
}
