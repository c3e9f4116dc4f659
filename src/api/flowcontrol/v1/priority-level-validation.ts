/** Rules of PriorityLevelConfigurations (upstream: ValidatePriorityLevelConfiguration). */
import { deepEqual } from '../../../apimachinery/equality.ts';
import {
  forbiddenCause,
  invalidCause,
  notSupportedCause,
  requiredCause,
} from '../../../apimachinery/field-error.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { fixedCatchAll } from './fixed-objects.ts';
import type {
  ExemptPriorityLevelConfiguration,
  LimitedPriorityLevelConfiguration,
  LimitResponse,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  QueuingConfiguration,
} from './types.gen.ts';

const maxQueues = 10_000_000;
const maxHashBits = 60;
/** Annotation by which another version of the kind preserves a zero. */
const zeroShares = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares';

export function validatePriorityLevel({ metadata, spec }: PriorityLevelConfiguration): StatusCause[] {
  const { name, annotations = {} } = metadata;
  const foreign = Object.hasOwn(annotations, zeroShares)
    ? [forbiddenCause('metadata.annotations', `annotation '${zeroShares}' is forbidden`)]
    : [];
  const exemption = (name === 'exempt') !== (spec.type === 'Exempt');
  const onlyExempt = "type must be 'Exempt' if and only if name is 'exempt'";
  return [
    ...foreign,
    ...(exemption ? [invalidCause('spec.type', spec.type, onlyExempt)] : []),
    ...validateKind(spec),
    ...validateFixed(name, spec),
  ];
}

function validateKind({ type, limited, exempt }: PriorityLevelConfigurationSpec): StatusCause[] {
  if (type === 'Exempt')
    return [
      ...(limited ? [forbiddenCause('spec.limited', 'must be nil if the type is not Limited')] : []),
      ...(exempt ? validateExempt(exempt, 'spec.exempt') : []),
    ];
  if (type === 'Limited')
    return [
      ...(exempt ? [forbiddenCause('spec.exempt', 'must be nil if the type is Limited')] : []),
      ...(limited
        ? validateLimited(limited, 'spec.limited')
        : [requiredCause('spec.limited', 'must not be empty when type is Limited')]),
    ];
  return [notSupportedCause('spec.type', type, ['Exempt', 'Limited'])];
}

function validateFixed(name: string, spec: PriorityLevelConfigurationSpec): StatusCause[] {
  const refuse = (why: string) => [invalidCause('spec', spec, `spec of '${name}' ${why} the fixed value`)];
  if (name === 'catch-all') return deepEqual(spec, fixedCatchAll) ? [] : refuse('must equal');
  const wrong = name === 'exempt' && (spec.type !== 'Exempt' || spec.limited !== undefined);
  return wrong ? refuse("except the 'spec.exempt' field must equal") : [];
}

const notNegative = (value: number, path: string, why = 'must be a non-negative integer') =>
  value < 0 ? [invalidCause(path, value, why)] : [];

const percent = (value: number, path: string) =>
  value < 0 || value > 100 ? [invalidCause(path, value, 'must be between 0 and 100, inclusive')] : [];

const validateExempt = (exempt: ExemptPriorityLevelConfiguration, path: string): StatusCause[] => [
  ...notNegative(exempt.nominalConcurrencyShares, `${path}.nominalConcurrencyShares`),
  ...percent(exempt.lendablePercent, `${path}.lendablePercent`),
];

function validateLimited(limited: LimitedPriorityLevelConfiguration, path: string): StatusCause[] {
  const optional = 'if specified, must be a non-negative integer';
  return [
    ...notNegative(limited.nominalConcurrencyShares, `${path}.nominalConcurrencyShares`),
    ...validateResponse(limited.limitResponse, `${path}.limitResponse`),
    ...percent(limited.lendablePercent, `${path}.lendablePercent`),
    ...notNegative(limited.borrowingLimitPercent ?? 0, `${path}.borrowingLimitPercent`, optional),
  ];
}

function validateResponse({ type, queuing }: LimitResponse, path: string): StatusCause[] {
  const at = `${path}.queuing`;
  if (type === 'Reject')
    return queuing ? [forbiddenCause(at, 'must be nil if limited.limitResponse.type is not Limited')] : [];
  if (type !== 'Queue') return [notSupportedCause(`${path}.type`, type, ['Queue', 'Reject'])];
  if (queuing) return validateQueuing(queuing, at);
  return [requiredCause(at, 'must not be empty if limited.limitResponse.type is Limited')];
}

function validateQueuing({ queues, handSize, queueLengthLimit }: QueuingConfiguration, path: string) {
  const causes: StatusCause[] = [];
  const refuse = (field: string, value: number, why: string) =>
    causes.push(invalidCause(`${path}.${field}`, value, why));
  if (queueLengthLimit <= 0) refuse('queueLengthLimit', queueLengthLimit, 'must be positive');
  if (queues <= 0) refuse('queues', queues, 'must be positive');
  else if (queues > maxQueues) refuse('queues', queues, `must not be greater than ${maxQueues}`);
  if (handSize <= 0) refuse('handSize', handSize, 'must be positive');
  else if (handSize > queues) refuse('handSize', handSize, `should not be greater than queues (${queues})`);
  // The queues of a flow are selected by the bits of one hash.
  else if (Math.ceil(Math.log2(queues) * handSize) > maxHashBits)
    refuse(
      'handSize',
      handSize,
      `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${maxHashBits}`,
    );
  return causes;
}
